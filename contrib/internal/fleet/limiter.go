// Package fleet shares the rate limit of one address among the replicas of a program, as NewLimiter of contrib/redis describes. The
// modules below contrib use it, each with its own store, which is a [Pool].
//
// A [Limiter] uses and rests the slots that its replica owns by itself, as the limiter of one process does (internal/slots). The
// pool keeps only how many each replica owns, grants those that nobody owns, money before calls before bulk, and recalls some from
// those with more than their part.
//
// The package stands above the client, as the modules do that use it. What it exports, and what a [Report] means to a pool,
// is theirs: a module of another version uses it too if a program updates only the core.
package fleet

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
)

// DefaultLease is the Lease of options without one.
const DefaultLease = 5 * time.Second

// Options are the settings of a [Limiter]. The modules document them; zero values are replaced by defaults.
type Options struct {
	Replicas  int
	Allowance int
	Window    time.Duration
	Lease     time.Duration
	Timeout   time.Duration
	MaxPause  time.Duration
	Logger    *slog.Logger
	OnChange  func(Status)
	// Store is the name of the pool's server, as log lines name it.
	Store string
}

// Status is the state of a [Limiter].
type Status struct {
	Shared   bool
	Slots    int
	Replicas int
	Err      error
}

// Limiter is the [prepaid.Limiter] of one replica.
type Limiter struct {
	*owner
	pool  Pool
	id    string
	kicks chan struct{}
	close func() error

	mu     sync.Mutex
	status Status
}

// New returns the limiter of one replica and starts its exchange with the pool, which runs until Close. It does not wait
// for the pool. Faults of the options, after those given, are returned as a *[prepaid.ValidationError].
func New(pool Pool, options Options, given ...prepaid.Fault) (*Limiter, error) {
	options = options.withDefaults()
	if err := options.check(given).Err(); err != nil {
		return nil, err
	}
	l := &Limiter{pool: pool, id: rand.Text(), kicks: make(chan struct{}, 1)}
	l.owner = newOwner(options, l.kick)
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

func (o Options) withDefaults() Options {
	o.Allowance = cmp.Or(o.Allowance, 1000)
	o.Window = cmp.Or(o.Window, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, DefaultLease)
	o.Timeout = cmp.Or(o.Timeout, min(250*time.Millisecond, o.Lease/2))
	o.MaxPause = cmp.Or(o.MaxPause, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o Options) check(f faults.List) faults.List {
	const least = 100 * time.Millisecond
	f.Require(o.Replicas >= 0 && o.Replicas <= max(o.Allowance, 0), "replicas", "must be 0 to the allowance")
	f.Require(o.Allowance > 0 && o.Allowance <= 1_000_000, "allowance", "must be 1 to 1,000,000")
	f.Require(o.Window >= least, "window", "must be at least 100 ms")
	f.Require(o.Lease >= least, "lease", "must be at least 100 ms")
	f.Require(o.Timeout > 0 && o.Timeout <= max(o.Lease/2, least/2), "timeout", "must be above zero and at most half of the lease")
	f.Require(o.MaxPause > 0, "max_pause", "must not be negative")
	return f
}

// Status returns the current state.
func (l *Limiter) Status() Status {
	l.mu.Lock()
	s := l.status
	l.mu.Unlock()
	s.Slots, _ = l.owned()
	return s
}

// Close refuses the waiting calls, hands over what this replica owns and ends its exchange with the pool. It takes at most
// two Timeouts. A second Close waits for the first and returns the same.
func (l *Limiter) Close() error { return l.close() }

// kick requests an exchange now.
func (l *Limiter) kick() {
	select {
	case l.kicks <- struct{}{}:
	default: // one is already requested
	}
}
