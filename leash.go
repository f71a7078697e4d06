package prepaid

import (
	"context"
	"io"
	"time"
)

// leash bounds an attempt: its headers and body by AttemptTimeout or, when a caller reads the body itself, each
// pause of the body by BodyIdleTimeout.
type leash struct {
	cancel context.CancelCauseFunc
	timer  *time.Timer
}

// hold starts the attempt's time and returns its context.
func (l *leash) hold(ctx context.Context, limit time.Duration) context.Context {
	ctx, l.cancel = context.WithCancelCause(ctx)
	l.timer = time.AfterFunc(limit, func() { l.cancel(errAttemptTimeout) })
	return ctx
}

// free ends the attempt.
func (l *leash) free() {
	l.timer.Stop()
	l.cancel(nil)
}

// stream hands the body over to its reader, together with the leash.
func (l *leash) stream(ctx context.Context, body io.ReadCloser, idle time.Duration) io.ReadCloser {
	l.timer.Stop()
	return &leashedBody{
		body: body, leash: l, idle: idle,
		describe: func(err error) error { return transportError(ctx, true, "body", err) },
	}
}

// leashedBody is a response body whose pauses are bounded and whose errors name no content.
type leashedBody struct {
	body     io.ReadCloser
	leash    *leash
	idle     time.Duration
	describe func(error) error
}

func (b *leashedBody) Read(p []byte) (int, error) {
	b.leash.timer.Reset(b.idle)
	n, err := b.body.Read(p)
	b.leash.timer.Stop()
	if err != nil && err != io.EOF {
		err = b.describe(err)
	}
	return n, err
}

func (b *leashedBody) Close() error {
	b.leash.free()
	return b.body.Close()
}
