package prepaidredis

import (
	"cmp"
	"context"
	"crypto/rand"
	_ "embed"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid"
)

// LimiterOptions configures [NewLimiter]. All replicas behind one address need the same Key, Allowance, Window, Replicas
// and Lease.
type LimiterOptions struct {
	// Key is the name of the limit in Redis, at most 128 printable ASCII characters, one per address that the service
	// sees: "prepaid:limit" by default.
	Key string
	// Replicas is the maximum number of replicas. A tenth of each one's equal share is reserved for it, so that it can
	// start without Redis. If zero, the number is learnt from Redis, nothing is reserved, and a replica that has never
	// reached Redis assumes 10.
	Replicas int
	// Allowance is how many requests the service allows the address in a Window: 1,000 by default.
	Allowance int
	// Window is the service's window: by default 10 s, at least 100 ms.
	Window time.Duration
	// Lease is how long a replica continues unchanged when it cannot reach Redis; after that it is limited to its equal
	// share. It is also how long a killed replica keeps its slots, before they rest for a window: by default 5 s, at
	// least 100 ms.
	Lease time.Duration
	// Timeout bounds one exchange with Redis: 250 ms by default, at most half of Lease. No call waits for more than one.
	Timeout time.Duration
	// MaxPause is the longest pause after a 429: 15 s by default.
	MaxPause time.Duration
	// Logger gets a record when Redis becomes unreachable and when it is back.
	Logger *slog.Logger
	// OnChange is called at the same moments, one call at a time. It must return soon.
	OnChange func(Status)
}

// Status is the state of a [Limiter].
type Status struct {
	// Shared reports whether the last exchange with Redis succeeded.
	Shared bool
	// Slots is how many slots this replica owns.
	Slots int
	// Replicas is how many replicas there were at the last exchange, including this one; 0 before the first.
	Replicas int
	// Err is why the last exchange failed; nil if Shared, or before the first.
	Err error
}

// Limiter is a [prepaid.Limiter] for all replicas behind one address, created by [NewLimiter].
type Limiter struct {
	slots   *slots
	client  redis.UniversalClient
	script  *redis.Script
	options LimiterOptions
	id      string
	kicks   chan struct{}
	cancel  context.CancelFunc
	stopped chan struct{}
	once    sync.Once
	leaving error

	mu     sync.Mutex
	status Status
}

//go:embed exchange.lua
var exchangeScript string

// NewLimiter returns the limiter of one replica and starts its exchange with Redis, which runs until Close. Faults of the
// options are returned as a *[prepaid.ValidationError]. It does not wait for Redis.
//
// The allowance is a number of slots. A slot rests for one window after the response headers arrived, and at any time at
// most one replica owns it. So no fixed or sliding window of the service has more requests than it allows, whichever
// replicas send them. Slots that a replica does not need go back to Redis, where a script grants them: money before calls
// before bulk, in equal parts among replicas that need more than there is, and recalled from those with more. Owned slots
// are reused without asking. Redis is asked in the background, 100 times per window while there is traffic and four times
// per lease when there is none, and at once if it could help a waiting call.
//
// While slots are scarce, calls and bulk are spaced evenly in each replica, so that slots return evenly and a payment
// waits only for the next one, in its own replica or granted from another. A replica with very few slots may need up to a
// Window to get those that its payments want. Redis reserves the last 0.4 % of the slots from calls and the last 2 % from
// bulk, for replicas whose payments have none.
//
// If Redis is unreachable, a replica continues with the slots it owns. Once its Lease has ended it uses at most its equal
// share of the allowance, and about one Window later, when every other replica does the same, no less. Redis that was
// restarted or lost its data grants nothing for a Lease and a Window, until it has heard from all replicas; so does one
// that has not been up for that long. A replica that alone is cut off for longer keeps its share, although the others may
// be granted it: they may then get a 429. A replica that starts without Redis does not know what was used before.
//
// A 429 of any replica pauses all: itself at once, the others with their next exchange, and from then on requests are
// spaced evenly. See [prepaid.Limiter] for how long, and for the errors of Acquire.
func NewLimiter(client redis.UniversalClient, options LimiterOptions) (*Limiter, error) {
	options = options.withDefaults()
	if err := options.validate(client); err != nil {
		return nil, err
	}
	l := &Limiter{
		client: client, script: newScript(), options: options,
		id: rand.Text(), kicks: make(chan struct{}, 1), stopped: make(chan struct{}),
	}
	l.slots = newSlots(options, l.kick)
	ctx, cancel := context.WithCancel(context.Background())
	l.cancel = cancel
	go l.run(ctx)
	return l, nil
}

func newSlots(options LimiterOptions, kick func()) *slots {
	l := &slots{
		size: options.Allowance, window: options.Window, lease: options.Lease,
		gone:     options.Lease + options.Window + options.Window/10,
		replicas: options.Replicas, maxPause: options.MaxPause, start: time.Now(), kick: kick, full: laneCount,
	}
	if l.replicas > 0 {
		l.floor = l.size / (l.replicas * floorParts)
	}
	l.limit, l.growAt = l.share(), l.gone
	return l
}

func (o LimiterOptions) withDefaults() LimiterOptions {
	o.Key = cmp.Or(o.Key, "prepaid:limit")
	o.Allowance = cmp.Or(o.Allowance, 1000)
	o.Window = cmp.Or(o.Window, 10*time.Second)
	o.Lease = cmp.Or(o.Lease, 5*time.Second)
	o.Timeout = cmp.Or(o.Timeout, min(250*time.Millisecond, o.Lease/2))
	o.MaxPause = cmp.Or(o.MaxPause, 15*time.Second)
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	return o
}

func (o LimiterOptions) validate(client redis.UniversalClient) error {
	const least = 100 * time.Millisecond
	var f faults
	f.checkClient(client)
	f.checkKey("key", o.Key)
	f.require(o.Replicas >= 0 && o.Replicas <= max(o.Allowance, 0), "replicas", "must be 0 to the allowance")
	f.require(o.Allowance > 0 && o.Allowance <= 1_000_000, "allowance", "must be 1 to 1,000,000")
	f.require(o.Window >= least, "window", "must be at least 100 ms")
	f.require(o.Lease >= least, "lease", "must be at least 100 ms")
	f.require(o.Timeout > 0 && o.Timeout <= max(o.Lease/2, least/2), "timeout", "must be above zero and at most half of the lease")
	f.require(o.MaxPause > 0, "max_pause", "must not be negative")
	return f.err()
}

// Acquire implements [prepaid.Limiter]. After Close it returns [prepaid.ErrClosed].
func (l *Limiter) Acquire(ctx context.Context, lane prepaid.Lane) (prepaid.Slot, error) {
	return l.slots.acquire(ctx, lane)
}

// Status returns the current state.
func (l *Limiter) Status() Status {
	l.mu.Lock()
	s := l.status
	l.mu.Unlock()
	s.Slots = l.slots.owned()
	return s
}

// Close refuses the waiting calls, hands over what this replica owns and ends its exchange with Redis. An error means
// that Redis could not be reached; the others then get the slots a Lease and a Window later. It takes at most two
// Timeouts. A second Close waits for the first and returns the same.
func (l *Limiter) Close() error {
	l.once.Do(func() {
		l.slots.close()
		l.cancel()
	})
	<-l.stopped
	return l.leaving
}

// kick requests an exchange now.
func (l *Limiter) kick() {
	select {
	case l.kicks <- struct{}{}:
	default: // one is already requested
	}
}

func newScript() *redis.Script { return redis.NewScript(exchangeScript) }
