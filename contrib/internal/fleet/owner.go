package fleet

import (
	"cmp"
	"context"
	"math"
	"time"

	"github.com/cardprograms/prepaid/internal/slots"
	"github.com/cardprograms/prepaid/ratelimit"
)

const (
	// floorParts: each replica keeps 1/floorParts of its share in any case.
	floorParts = 10
	// strangers is the assumed number of replicas if none is configured and the pool has not been reached yet.
	strangers = 10
	// never is later than any time.
	never = time.Duration(math.MaxInt64)
)

// owner decides which slots this replica owns. No two replicas own one slot, and each replica reuses a slot only after
// the slot's rest. So no window of the service has two uses of one slot.
//
// After its lease a replica owns at most its equal share. Once the leases of all others must have ended too, it owns
// exactly that share. Only the clock decides this, so neither pool nor network can delay it.
//
// Slots are scarce when the pool has no more for calls or bulk. These lanes are spaced only then: before that, more slots may arrive.
type owner struct {
	options Options
	gone    time.Duration // time from a replica's last exchange until it owns at most its share, and its used slots have rested
	floor   int
	kick    func() // requests an exchange; does not block
	limiter *slots.Limiter

	// The limiter's lock guards the rest.
	leaseEnd   time.Duration // 0 when the pool has not been reached
	growAt     time.Duration // when this replica owns its share without the pool
	more       promise
	full       ratelimit.Lane // first lane for which the pool had no more slots
	dozing     bool           // no exchange is due soon
	learnt     int            // number of replicas in the last grant
	pauses     uint64         // number of pauses that the pool knows
	mustReport bool           // the next report must include the pause
	acked      uint64         // number of the last exchange with a response
	sent, got  time.Duration  // when that exchange was sent, and its response arrived
	stepped    bool           // the last response was that the server's clock was set forward
}

// promise describes slots that may arrive from other replicas.
type promise struct {
	n      int           // how many slots
	by     time.Duration // when the last of them has arrived
	spread time.Duration // duration before that time in which they arrive evenly; 0 if all arrive at once
}

func newOwner(options Options, kick func()) *owner {
	o := &owner{options: options, gone: options.Lease + options.Window + options.Window/10, kick: kick, full: slots.LaneCount}
	if options.Replicas > 0 {
		o.floor = options.Allowance / (options.Replicas * floorParts)
	}
	o.growAt = o.gone
	o.limiter = slots.New(slots.Options{
		Owner: o, Window: options.Window,
		MaxPause: options.MaxPause, MaxRandomPause: options.MaxPause, // modules have one option for both
	})
	return o
}

// share is how many slots each replica may use without the pool.
func (o *owner) share() int {
	return max(1, o.options.Allowance/cmp.Or(o.options.Replicas, o.learnt, strangers))
}

// alone reports whether the lease has ended, so that the share applies.
func (o *owner) alone(now time.Duration) bool { return now >= o.leaseEnd }

// Acquire implements [ratelimit.Limiter]. After Close it returns [prepaid.ErrClosed].
func (o *owner) Acquire(ctx context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	return o.limiter.Acquire(ctx, cmp.Or(lane, ratelimit.Call))
}

// Advance implements slots.Owner: it applies the end of a lease.
func (o *owner) Advance(now time.Duration, s *slots.Stock) {
	if !o.alone(now) {
		return
	}
	share := o.share()
	s.Limit = share
	if o.growAt == never && now >= o.leaseEnd-o.options.Lease+o.gone { // this replica was suspended; others own its slots
		s.Limit = 0
	}
	if now >= o.growAt {
		s.Add(max(0, share-s.Held))
	}
}

// Expect implements slots.Owner. The result is later than now even if the promise is overdue: slots can only be used
// after they have arrived.
func (o *owner) Expect(now time.Duration, s *slots.Stock, lacking int) time.Duration {
	switch {
	case o.alone(now) && now < o.growAt && lacking <= o.share()-s.Held:
		return o.growAt
	case o.alone(now) || o.more.n < lacking:
		return never
	}
	return max(now+1, o.more.by-o.more.spread+o.more.spread*time.Duration(lacking)/time.Duration(o.more.n))
}

// Arrive implements slots.Owner.
func (o *owner) Arrive(lane ratelimit.Lane, waits bool) bool {
	asks := waits && lane < o.full
	if asks || o.dozing {
		o.dozing = false
		o.kick()
	}
	return asks
}

// Paused implements slots.Owner.
func (o *owner) Paused() {
	o.mustReport = true
	o.kick()
}

// report begins an exchange. First the replica gives away slots that it does not need; the report has all others. While
// the pool is unreachable, the replica keeps all slots, since no other replica would get them.
func (o *owner) report() (r Report) {
	o.limiter.Update(func(now time.Duration, s *slots.Stock) uint64 {
		s.Exchange++
		r = Report{
			Seq: s.Exchange, Known: o.leaseEnd > 0 || s.Held > o.floor, at: now,
			Acked: o.acked, Least: now - o.got, Most: now - o.sent + o.options.Timeout, Stepped: o.stepped,
			Allowance: o.options.Allowance, Replicas: o.options.Replicas, Floor: o.floor, Lease: o.options.Lease, Gone: o.gone,
		}
		copy(r.Need[:], s.Need[ratelimit.Money:])
		if s.Backlogged() { // the replica will use its free slots too, at its pace
			r.Need[s.Backlog-ratelimit.Money] += s.Free
		}
		needed, stock := total(r.Need), 0 // stock is for calls that arrive before the next exchange
		if needed > 0 {
			stock = max(1, o.options.Allowance/50, needed/8)
		}
		wanted := max(needed+stock, o.floor)
		if surplus := min(s.Free, s.Held-wanted); surplus > 0 && !o.alone(now) && o.growAt == never {
			s.Add(-surplus)
		}
		r.Held = s.Held
		r.Extra = min(stock, max(0, wanted-s.Held))
		if o.mustReport && s.PausedUntil > now {
			r.Pause = (s.PausedUntil - now + time.Millisecond - 1).Truncate(time.Millisecond)
		}
		return 0
	})
	return r
}

// finish ends a successful exchange, and reports whether the next exchange is due soon. If not, the next Acquire starts
// it. The lease starts with the exchange: the pool cannot have recorded the report earlier.
func (o *owner) finish(r Report, g Grant) (soon bool) {
	if o.stepped = g.Granted == Stepped; g.Granted < 0 { // Void: the response to a repeated command; the first response was lost
		return true
	}
	o.limiter.Update(func(now time.Duration, s *slots.Stock) uint64 {
		if s.Held > r.Held { // the replica has grown since the report: report the growth first
			g.Granted = 0
		}
		o.leaseEnd, o.growAt, o.learnt = r.at+o.options.Lease, never, g.Replicas
		o.acked, o.sent, o.got = r.Seq, r.at, now
		s.Add(g.Granted)
		s.Limit = o.options.Allowance
		after := r.Held + g.Granted
		if g.Give > 0 {
			s.Limit = after - g.Give
		}
		sum := 0
		o.full = ratelimit.Money
		for _, n := range r.Need {
			if sum += n; after < sum {
				break
			}
			o.full++
		}
		s.Scarce = o.full < slots.LaneCount || s.Backlogged()
		if s.Backlogged() {
			s.Space(now)
		}
		switch {
		case g.Opens > 0:
			o.more = promise{n: o.options.Allowance, by: now + g.Opens}
		case g.Allot > after:
			o.more = promise{n: g.Allot - after, by: now + o.options.Window, spread: o.options.Window}
		default:
			o.more = promise{}
		}
		if r.Pause > 0 && s.PausedUntil <= r.at+r.Pause {
			o.mustReport = false
		}
		soon = o.mustReport || s.Need != [slots.LaneCount]int{}
		o.dozing = !soon
		if g.Pauses > o.pauses {
			o.pauses = g.Pauses
			s.Pace(now)
		}
		// Another replica started a pause; a smaller difference is only the exchange's duration.
		if g.Paused > 0 && now+g.Paused > s.PausedUntil+o.options.Window/100 && s.Pause(now, g.Paused) {
			return math.MaxUint64
		}
		return r.Seq
	})
	return soon
}

func (o *owner) fail(r Report) {
	o.stepped = false
	o.limiter.Update(func(_ time.Duration, s *slots.Stock) uint64 {
		if o.growAt == never {
			o.growAt = r.at + o.gone
		}
		if o.leaseEnd == 0 && s.Held == 0 { // this replica starts without the pool, and owns the floor
			s.Add(o.floor)
		}
		o.full, s.Scarce, o.more = ratelimit.Money, true, promise{}
		return math.MaxUint64
	})
}

// owned returns how many slots this replica owns, and how many of them are in use or resting.
func (o *owner) owned() (held, used int) {
	o.limiter.Update(func(_ time.Duration, s *slots.Stock) uint64 {
		held, used = s.Held, s.Held-s.Free
		return 0
	})
	return held, used
}
