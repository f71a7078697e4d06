// Package pause waits.
package pause

import (
	"context"
	"fmt"
	"time"
)

// For returns when the duration wait has passed or ctx ends. If the pause would outlast the deadline of ctx, the call returns
// context.DeadlineExceeded at once.
func For(ctx context.Context, wait time.Duration) error {
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait && ctx.Err() == nil {
		return context.DeadlineExceeded
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// Cause adds the cause of the end of ctx to err, so that the error names the limit that has passed. A nil err stays nil.
func Cause(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); err != nil && cause != ctx.Err() { //nolint:errorlint // a cause of its own
		return fmt.Errorf("%w: %w", cause, err)
	}
	return err
}

// Wake signals a sleeper, unless a signal is already waiting. The channel has room for one signal.
func Wake(sleeper chan<- struct{}) {
	select {
	case sleeper <- struct{}{}:
	default:
	}
}
