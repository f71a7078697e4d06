package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
)

// listen wakes the claims when a payment was enqueued, until ctx ends. Its connection does not go back to the pool. While there is none,
// the claims poll.
func (r *run) listen(ctx context.Context) {
	for failures := 0; ctx.Err() == nil; failures++ {
		began := time.Now()
		err := r.listenOnce(ctx)
		if ctx.Err() != nil {
			return
		}
		r.failed(ctx, failure("listen", err))
		if time.Since(began) > time.Minute {
			failures = 0
		}
		sleep(ctx, backoff(100*time.Millisecond, 10*time.Second, failures), nil)
	}
}

// listenOnce returns when its connection fails.
func (r *run) listenOnce(ctx context.Context) error {
	pooled, err := r.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	conn := pooled.Hijack()
	defer func() {
		end, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = conn.Close(end)
	}()
	if _, err := conn.Exec(ctx, "listen "+pgx.Identifier{r.channel}.Sanitize()); err != nil {
		return err
	}
	for {
		wake(r.wake) // also for what was enqueued before
		if _, err := conn.WaitForNotification(ctx); err != nil {
			return err
		}
	}
}
