package exchange

import (
	"bytes"
	"context"
	"io"
	"net/http"
)

// MostKept is the capacity up to which a Buffer should be kept for another call.
const MostKept = 1 << 20

// Buffer holds the body of a response while it is decoded. It is reused for each body.
type Buffer struct {
	bytes.Buffer
	limited io.LimitedReader // between the buffer and a response
}

// Read reads the body of a response to its end and closes it. If the body is longer than limit, Read truncates it and returns
// ErrTooLarge. ctx is the context that Begin returned. The result is valid until the next Read.
func (b *Buffer) Read(ctx context.Context, response *http.Response, limit int64) ([]byte, error) {
	defer func() { _ = response.Body.Close() }()
	b.Reset()
	if length := response.ContentLength; length > 0 && length <= limit {
		b.Grow(int(min(length, MostKept)) + bytes.MinRead)
	}
	b.limited = io.LimitedReader{R: response.Body, N: limit + 1}
	n, err := b.ReadFrom(&b.limited)
	b.limited.R = nil
	switch {
	case n > limit:
		return b.Bytes()[:limit], ErrTooLarge
	case err != nil:
		return b.Bytes(), describe(ctx, true, err)
	}
	return b.Bytes(), nil
}
