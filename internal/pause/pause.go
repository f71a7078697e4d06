// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits. It refuses at once a wait that would outlast the context's deadline, and ends with the context.
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
