package faults

import (
	"bytes"
	"net"
	"net/http"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// Drops reports whether the caller gets no response at all.
func (f *Fault) Drops() bool {
	return f != nil && (f.Kind == CommitThenDrop || f.Kind == DropBeforeCommit)
}

// TakesOver reports whether the fault writes the response to the connection itself.
func (f *Fault) TakesOver() bool {
	return f.Drops() || (f != nil && f.Kind == Truncate)
}

// RewriteHeader changes the headers of the response.
func (f *Fault) RewriteHeader(a *exchange.Response) {
	if f != nil && f.Kind == ContentType && (len(a.Body) > 0 || a.Stream != nil) {
		a.ContentType = f.ContentType
	}
}

// Slow returns the writer to use: w itself, or a slow writer.
func (f *Fault) Slow(running *activity.Activity, w http.ResponseWriter, r *http.Request) http.ResponseWriter {
	if f == nil || f.Kind != SlowBody {
		return w
	}
	return &slowWriter{ResponseWriter: w, wait: func() bool { return running.Pause(f.Wait, r.Context().Done()) }}
}

// Send writes the response, changed by the fault, and cuts the connection.
func (f *Fault) Send(w http.ResponseWriter, a exchange.Response) {
	switch {
	case f.Drops():
		exchange.Cut(w, nil)
	case a.Stream != nil:
		truncateStream(w, a)
	default:
		exchange.Cut(w, truncated(a))
	}
}

// truncated is a response cut in the middle of its body or, without a body, of its head.
func truncated(response exchange.Response) []byte {
	whole := append(response.RawHead(len(response.Body), false), response.Body...)
	if len(response.Body) < 2 {
		return whole[:len(whole)/2]
	}
	return whole[:len(whole)-len(response.Body)/2]
}

// SlowPiece is the number of bytes between two pauses.
const SlowPiece = 16

// slowWriter sends a body in small pieces.
type slowWriter struct {
	http.ResponseWriter
	wait  func() bool
	begun bool
}

// Write waits before each piece except the first.
func (w *slowWriter) Write(p []byte) (int, error) {
	written := 0
	for written < len(p) {
		if w.begun && !w.wait() {
			return written, net.ErrClosed
		}
		w.begun = true
		n, err := w.ResponseWriter.Write(p[written:min(written+SlowPiece, len(p))])
		written += n
		if err != nil {
			return written, err
		}
		_ = http.NewResponseController(w.ResponseWriter).Flush() // not every writer can flush
	}
	return written, nil
}

// Unwrap is for http.ResponseController.
func (w *slowWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// truncateStream sends half of the first bytes and cuts the connection.
func truncateStream(w http.ResponseWriter, a exchange.Response) {
	var start bytes.Buffer
	_ = a.Stream(&limitedBuffer{buffer: &start, limit: exchange.StreamHead}) // cut in any case
	a.Body, a.Stream = start.Bytes(), nil
	exchange.Cut(w, truncated(a))
}

// limitedBuffer keeps the first bytes and drops the rest.
type limitedBuffer struct {
	buffer *bytes.Buffer
	limit  int
}

// Write implements io.Writer.
func (l *limitedBuffer) Write(p []byte) (int, error) {
	l.buffer.Write(p[:min(len(p), max(l.limit-l.buffer.Len(), 0))])
	return len(p), nil
}
