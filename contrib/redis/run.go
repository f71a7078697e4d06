package prepaidredis

import (
	"context"
	"errors"
	"log/slog"
	"time"
)

// run exchanges with Redis until ctx ends: soon again while slots are used, rarely when not, and at once when kicked.
func (l *Limiter) run(ctx context.Context) {
	defer close(l.stopped)
	soon := min(max(l.options.Window/100, 10*time.Millisecond), 100*time.Millisecond)
	rarely := l.options.Lease / 4
	failures := 0
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-ctx.Done():
			l.leaving = l.leave(context.WithoutCancel(ctx))
			return
		case <-timer.C:
		case <-l.kicks:
		}
		r := l.slots.report()
		a, err := l.exchange(ctx, r, 0)
		if ctx.Err() != nil {
			continue
		}
		wait := rarely
		if err != nil {
			l.slots.fail(r)
			wait = min(rarely, soon<<min(failures, 6))
			failures++
		} else {
			l.slots.finish(r, a)
			failures = 0
			if l.slots.active() {
				wait = soon
			}
		}
		l.note(ctx, a.replicas, err)
		timer.Reset(wait)
	}
}

// leave reports to Redis that this replica is leaving. The slots in use stay on its account until they have rested.
func (l *Limiter) leave(ctx context.Context) error {
	r := l.slots.report()
	r.held, r.need, r.extra = l.slots.inUse(), [laneCount]int{}, 0
	ends := time.Millisecond
	if r.held > 0 {
		ends = l.slots.gone
	}
	_, err := l.exchange(ctx, r, ends)
	return err
}

// exchange runs the script. If leaving is not 0, it is the last exchange, and leaving is how long the account stays.
func (l *Limiter) exchange(ctx context.Context, r report, leaving time.Duration) (response, error) {
	ctx, cancel := context.WithTimeout(ctx, l.options.Timeout)
	defer cancel()
	known := 0
	if r.known {
		known = 1
	}
	got, err := l.script.Run(ctx, l.client, []string{l.options.Key},
		l.id, r.seq, r.held, r.need[0], r.need[1], r.need[2], r.extra,
		l.options.Allowance, l.options.Replicas, l.slots.floor,
		l.slots.lease.Milliseconds(), l.slots.gone.Milliseconds(), leaving.Milliseconds(), milliseconds(r.pause), known,
	).Int64Slice()
	if err != nil {
		return response{}, err
	}
	if len(got) != 7 {
		return response{}, errResponse
	}
	return response{
		granted: int(got[0]), give: int(got[1]), allot: int(got[2]), replicas: int(got[3]),
		paused: time.Duration(got[4]) * time.Millisecond, pauses: uint64(max(got[5], 0)),
		opens: time.Duration(got[6]) * time.Millisecond,
	}, nil
}

var errResponse = errors.New("the script's result has an unexpected form")

// milliseconds rounds up.
func milliseconds(d time.Duration) int64 { return (max(d, 0) + time.Millisecond - 1).Milliseconds() }

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
		l.options.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: Redis is unreachable; the rate limit is this replica's share",
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas), slog.Any("error", err))
	} else {
		l.options.Logger.LogAttrs(ctx, slog.LevelInfo, "prepaid: the rate limit is shared in Redis",
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas))
	}
	if l.options.OnChange != nil {
		l.options.OnChange(status)
	}
}
