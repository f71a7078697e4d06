package exchange

import (
	"context"
	"io"
	"time"
)

// attemptTimer limits the time of an attempt, including headers and body. If the body is streamed, the timer instead limits each
// pause of the body.
type attemptTimer struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// Begin starts the timer of the exchange and returns its context.
func (x *Exchange) Begin(ctx context.Context, limit time.Duration) context.Context {
	ctx, x.timer.cancel = context.WithCancelCause(ctx)
	x.timer.timer = time.AfterFunc(limit, func() { x.timer.cancel(ErrTimeout) })
	return ctx
}

// End stops the timer of the exchange and cancels its context: the response body cannot be read any more.
func (x *Exchange) End() { x.timer.stop() }

func (t *attemptTimer) stop() {
	t.timer.Stop()
	t.cancel(nil)
}

// Stream returns a reader of body that limits each pause of the body to idle. Closing the reader ends the exchange. The
// function wrap makes the reader's errors from causes that contain no part of a response.
func (x *Exchange) Stream(ctx context.Context, body io.ReadCloser, idle time.Duration, wrap func(error) error) io.ReadCloser {
	x.timer.timer.Stop()
	return &timedBody{
		body: body, timer: &x.timer, idle: idle,
		describe: func(err error) error { return wrap(describe(ctx, true, err)) },
	}
}

type timedBody struct {
	body     io.ReadCloser
	timer    *attemptTimer
	idle     time.Duration
	describe func(error) error
}

func (b *timedBody) Read(p []byte) (int, error) {
	b.timer.timer.Reset(b.idle)
	n, err := b.body.Read(p)
	b.timer.timer.Stop()
	if err != nil && err != io.EOF {
		err = b.describe(err)
	}
	return n, err
}

func (b *timedBody) Close() error {
	b.timer.stop()
	return b.body.Close()
}
