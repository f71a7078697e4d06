// Package fleet shares the rate limit of one address among the replicas of a program, as [ratelimit.Shared] describes. The
// modules below contrib use it, each with its own store, which is a [Pool].
//
// A [Limiter] uses the slots of its replica, and lets used slots rest, like the limiter of one process
// (internal/slots). The pool only counts the slots of each replica, grants free slots (money before calls before bulk),
// and recalls slots from replicas with more than their share.
//
// Do not change the package's exports, or the meaning of a [Report] to a pool, in an incompatible way: if a program
// updates only the core, older versions of those modules use this package. The package may import the client.
package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"log/slog"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/ratelimit"
)

// DefaultLease is the default of Options.Lease.
const DefaultLease = 5 * time.Second

var errTimeout = errors.New("prepaid: the store of the rate limit did not respond within Timeout")

// Options are the settings of a [Limiter]; zero values are replaced by defaults.
type Options = ratelimit.SharedOptions

// Status is the state of a [Limiter].
type Status = ratelimit.SharedStatus

// Limiter is the [ratelimit.Shared] of one replica.
type Limiter struct {
	*owner
	pool  Pool
	id    string
	kicks chan struct{}
	close func() error

	mu     sync.Mutex
	status Status
}

// New returns the limiter of one replica and starts its exchanges with the pool, which continue until Close. It does
// not wait for the pool. The error is a *[prepaid.ValidationError] with the given faults and those of options.
func New(pool Pool, options Options, given ...prepaid.FieldError) (*Limiter, error) {
	options = withDefaults(options)
	if err := check(options, given).Err(); err != nil {
		return nil, err
	}
	l := &Limiter{pool: pool, id: rand.Text(), kicks: make(chan struct{}, 1)}
	l.owner = newOwner(options, func() { pause.Wake(l.kicks) })
	ctx, cancel := context.WithCancel(context.Background())
	left := make(chan error, 1)
	go func() { left <- l.run(ctx) }()
	l.close = sync.OnceValue(func() error {
		l.limiter.Close(prepaid.ErrClosed)
		cancel()
		return <-left
	})
	return l, nil
}

func withDefaults(o Options) Options {
	o.Allowance = cmp.Or(o.Allowance, 1000)
	o.Window = cmp.Or(o.Window, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	o.Timeout = cmp.Or(o.Timeout, min(250*time.Millisecond, o.Lease/2))
	o.MaxPause = cmp.Or(o.MaxPause, 15*time.Second)
	o.Logger = guard.Logger(cmp.Or(o.Logger, slog.New(slog.DiscardHandler)))
	return o
}

func check(o Options, f faults.List) faults.List {
	const least = 100 * time.Millisecond
	f.RequireKey("name", o.Name)
	f.Require(o.Replicas >= 0 && o.Replicas <= max(o.Allowance, 0), "replicas", "must be 0 to the allowance")
	f.Require(o.Allowance > 0 && o.Allowance <= 1_000_000, "allowance", "must be 1 to 1,000,000")
	f.Require(o.Window >= least, "window", "must be at least 100 ms")
	f.Require(o.Lease >= least, "lease", "must be at least 100 ms")
	f.Require(o.Timeout > 0 && o.Timeout <= max(o.Lease/2, least/2), "timeout", "must be above zero and at most half of the lease")
	f.Require(o.MaxPause > 0, "max_pause", "must not be negative")
	return f
}

// Status implements [ratelimit.Shared].
func (l *Limiter) Status() Status {
	l.mu.Lock()
	s := l.status
	l.mu.Unlock()
	s.Slots, _ = l.owned()
	return s
}

// Close implements [ratelimit.Shared].
func (l *Limiter) Close() error { return l.close() }

// run exchanges with the pool until ctx ends: often while slots are used, rarely when not, and at once when kicked. It
// returns the last exchange's error.
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

// leave reports to the pool that this replica is leaving. Used slots stay on its account until they have rested.
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
	ctx, cancel := context.WithTimeoutCause(ctx, l.options.Timeout, errTimeout)
	defer cancel()
	r.ID = l.id
	g, err := l.pool.Exchange(ctx, r)
	return g, pause.Cause(ctx, err)
}

func (l *Limiter) note(ctx context.Context, replicas int, err error) {
	l.mu.Lock()
	before := l.status
	if err == nil {
		l.status.Replicas = cmp.Or(replicas, before.Replicas) // an exchange without effect reports none
	}
	l.status.Shared, l.status.Err = err == nil, err
	l.mu.Unlock()
	first := before.Replicas == 0 && before.Err == nil
	if before.Shared == (err == nil) && (!first || err == nil) {
		return
	}
	status := l.Status()
	if err != nil {
		l.options.Logger.LogAttrs(ctx, slog.LevelWarn, "prepaid: the store of the rate limit is unreachable; the limit is this replica's share",
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas), slog.String("error", err.Error()))
	} else {
		l.options.Logger.LogAttrs(ctx, slog.LevelInfo, "prepaid: the rate limit is shared",
			slog.Int("slots", status.Slots), slog.Int("replicas", status.Replicas))
	}
	if l.options.OnChange != nil {
		guard.Hook(l.options.Logger, "OnChange", func() { l.options.OnChange(status) })
	}
}
