package exchange

import (
	"context"
	"io"
	"time"
)

// Stream returns a reader of body. The limit idle applies to each pause of the body. Closing the reader ends the exchange.
// wrap makes the errors of the reader from causes that contain no part of a response.
func (x *Exchange) Stream(ctx context.Context, body io.ReadCloser, idle time.Duration, wrap func(error) error) io.ReadCloser {
	x.timer.Stop()
	return &timedBody{
		body: body, exchange: x, idle: idle,
		describe: func(err error) error { return wrap(describe(ctx, true, err)) },
	}
}

type timedBody struct {
	body     io.ReadCloser
	exchange *Exchange
	idle     time.Duration
	describe func(error) error
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.exchange.timer.Reset(b.idle)
	n, err := b.body.Read(p)
	b.exchange.timer.Stop()
	if err != nil && err != io.EOF {
		err = b.describe(err)
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.exchange.End()
	return b.body.Close()
}
