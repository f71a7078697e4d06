package fleet

import (
	"context"
	"log/slog"
	"time"
)

// run exchanges with the pool until ctx ends: soon again while slots are used, rarely when not, and at once when kicked.
// It returns the error of the last exchange.
func (l *Limiter) run(ctx context.Context) error {
	soon := min(max(l.options.Window/100, 10*time.Millisecond), 100*time.Millisecond)
	rarely := l.options.Lease / 4
	failures := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			return l.leave(context.WithoutCancel(ctx))
		case <-timer.C:
		case <-l.kicks:
		}
		r := l.report()
		a, err := l.exchange(ctx, r)
		if ctx.Err() != nil {
			continue
		}
		wait := rarely
		if err != nil {
			l.fail(r)
			wait = min(rarely, soon<<min(failures, 6))
			failures++
		} else {
			failures = 0
			if l.finish(r, a) {
				wait = soon
			}
		}
		l.note(ctx, a.Replicas, err)
		timer.Reset(wait)
	}
}

// leave reports to the pool that this replica is leaving. The slots in use stay on its account until they have rested.
func (l *Limiter) leave(ctx context.Context) error {
	r := l.report()
	r.Need, r.Extra, r.Leaving = [LaneCount]int{}, 0, time.Millisecond
	if _, r.Held = l.owned(); r.Held > 0 {
		r.Leaving = l.gone
	}
	_, err := l.exchange(ctx, r)
	return err
}

func (l *Limiter) exchange(ctx context.Context, r Report) (Grant, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	r.ID = l.id
	return l.pool.Exchange(ctx, r)
}

// note reports a change.
func (l *Limiter) note(ctx context.Context, replicas int, err error) {
	l.mu.Lock()
	before := l.status
	if err == nil {
		l.status.Replicas = replicas
	}
	l.status.Shared, l.status.Err = err == nil, err
	l.mu.Unlock()
	first := before.Replicas == 0 && before.Err == nil
	if before.Shared == (err == nil) && (!first || err == nil) {
		return
	}
	status := l.Status()
	if err != nil {
		l.options.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: "+l.options.Store+" is unreachable; the rate limit is this replica's share",
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas), slog.Any("error", err))
	} else {
		l.options.Logger.LogAttrs(ctx, slog.LevelInfo, "prepaid: the rate limit is shared in "+l.options.Store,
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas))
	}
	if l.options.OnChange != nil {
		l.options.OnChange(status)
	}
}
