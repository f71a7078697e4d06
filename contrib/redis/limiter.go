package prepaidredis

import (
	"context"
	"crypto/rand"
	_ "embed"
	"log/slog"
	"sync"
	"time"

	"github.com/redis/go-redis/v9"

	"github.com/cardprograms/prepaid"
)

// LimiterOptions sets up [NewLimiter]. The zero value of each field is its stated default. All replicas behind one
// address need the same Key, Allowance, Window, Replicas and Lease.
type LimiterOptions struct {
	// Key names the limit in Redis, at most 128 printable ASCII characters: one per address that the service
	// sees. "prepaid:limit" when empty.
	Key string
	// Replicas is how many replicas there are at most. A tenth of each one's even share is set aside for it, so that it
	// has something to begin with when it starts without Redis. When zero, the number is learnt in Redis, nothing is
	// set aside, and a replica that has never reached Redis assumes 10.
	Replicas int
	// Allowance is how many requests the service allows the address in a Window: 1,000 when zero.
	Allowance int
	// Window is the service's window: 10 s when zero, at least 100 ms.
	Window time.Duration
	// Lease is how long a replica goes on as before when it cannot reach Redis; then its even share counts. It is also
	// how long a killed replica keeps its slots, before they rest for a window: 5 s when zero, at least 100 ms.
	Lease time.Duration
	// Timeout bounds one exchange with Redis: 250 ms when zero, at most half of Lease. No call waits for more than one.
	Timeout time.Duration
	// MaxPause is the longest pause after a 429: 15 s when zero.
	MaxPause time.Duration
	// Logger gets a record when Redis goes away and when it is back. Silent when nil.
	Logger *slog.Logger
	// OnChange is told the same, one call after the other. It must return soon; nil tells nobody.
	OnChange func(Status)
}

// Status is the state of a [Limiter].
type Status struct {
	// Shared says whether the last exchange with Redis worked.
	Shared bool
	// Slots is how many slots this replica owns.
	Slots int
	// Replicas is how many replicas there were at the last exchange, this one included; 0 before the first.
	Replicas int
	// Err is why the last exchange failed, nil when Shared or before the first.
	Err error
}

// Limiter is a [prepaid.Limiter] of all replicas behind one address, made by [NewLimiter].
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
// options come as a *[prepaid.ValidationError]. It waits for nothing.
//
// The allowance is a number of slots. A slot rests for one window after the response headers came, and at any time one
// replica owns it, or none. So no fixed or sliding window of the service sees more requests than it allows, whichever
// replicas send them. Slots that a replica has no use for go back to Redis, where a script hands them out: money before
// calls before bulk, in even parts among replicas that need more than there is, and recalled from who has more. Owned
// slots are used again without asking. Redis is asked in the background, a hundred times a window while there is traffic
// and four times a lease when there is none, and at once when a call waits that it could help.
//
// While there are not enough slots, calls and bulk are spaced evenly in each replica, so that slots return evenly and a
// payment waits for the next one, in its own replica or handed over by another. A replica with a handful of slots may need
// up to a Window to be handed those that its payments want. Redis keeps the last 0.4 % of the slots from calls and the
// last 2 % from bulk, for replicas whose payments have none.
//
// When Redis is away, a replica goes on with the slots it owns. Once its Lease has ended it uses at most its even share
// of the allowance, and about one Window after that, when everyone else does the same, no less. Redis that was
// restarted or lost its data hands out nothing for a Lease and a Window, until it has heard of all replicas; so does one
// that has not been up for that long. A replica that alone is cut off for longer keeps its share, although the others
// may be given it: they may then see a 429. One that starts without Redis does not know what was used before.
//
// A 429 of any replica pauses all: itself at once, the others with their next exchange, and requests are spaced evenly
// from then on. See [prepaid.Limiter] for how long, and for the errors of Acquire.
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
	if o.Key == "" {
		o.Key = "prepaid:limit"
	}
	if o.Allowance == 0 {
		o.Allowance = 1000
	}
	orDuration(&o.Window, 10*time.Second)
	orDuration(&o.Lease, 5*time.Second)
	orDuration(&o.Timeout, min(250*time.Millisecond, o.Lease/2))
	orDuration(&o.MaxPause, 15*time.Second)
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

// Status says how things stand.
func (l *Limiter) Status() Status {
	l.mu.Lock()
	s := l.status
	l.mu.Unlock()
	s.Slots = l.slots.owned()
	return s
}

// Close refuses the calls that wait, hands over what this replica owns and ends its exchange with Redis. The error says
// that Redis could not be told; the others then have the slots a Lease and a Window later. It takes no longer than two
// Timeouts. A second Close waits for the first and returns the same.
func (l *Limiter) Close() error {
	l.once.Do(func() {
		l.slots.close()
		l.cancel()
	})
	<-l.stopped
	return l.leaving
}

// kick asks for an exchange now.
func (l *Limiter) kick() {
	select {
	case l.kicks <- struct{}{}:
	default: // one is asked for
	}
}

func newScript() *redis.Script { return redis.NewScript(exchangeScript) }
