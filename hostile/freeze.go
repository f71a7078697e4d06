package hostile

import (
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// freeze is a freeze of a process during a request. If the process has claimed more payments, it may send them after its lease.
type freeze struct {
	process *process
	payment int           // of the request
	until   atomic.Int64  // when the process has recovered, in nanoseconds of Unix
	taken   chan struct{} // closed when another copy has taken over the payment
	once    sync.Once
}

func newFreeze(f flight) *freeze {
	z := &freeze{process: f.process, payment: f.payment, taken: make(chan struct{})}
	z.until.Store(math.MaxInt64)
	return z
}

// recovers reports whether the process is frozen, or continued so recently that requests from before the freeze may still run.
func (z *freeze) recovers() bool { return z != nil && time.Now().UnixNano() < z.until.Load() }

func (z *freeze) takeOver() { z.once.Do(func() { close(z.taken) }) }

func (z *freeze) isTakenOver() bool {
	select {
	case <-z.taken:
		return true
	default:
		return false
	}
}

// freeze stops a process for d of real time or longer, until another copy has taken over the payment of its request, but at most for
// twice d.
func (p *process) freeze(z *freeze, d time.Duration) bool {
	over := make(chan struct{})
	p.responses.closeFor(time.Hour, over, &p.run.background, func() {})
	if !p.signal("FROZEN for "+d.String()+" or longer", true, freezeGroup) {
		close(over)
		z.until.Store(0)
		return false
	}
	p.run.background.Go(func() {
		defer close(over)
		for _, enough := range []<-chan struct{}{nil, z.taken} {
			select {
			case <-time.After(d):
			case <-enough:
			case <-p.exited:
			}
		}
		z.until.Store(time.Now().Add(onItsWay + p.run.options.longest()).UnixNano())
		p.signal("continues", false, thawGroup)
		time.Sleep(onItsWay)
	})
	return true
}

// onItsWay is the time after a freeze in which a process may still send a request that it began before the freeze. Meanwhile it
// gets no response, so that no other request follows.
const onItsWay = 200 * time.Millisecond

// frozenSince reports whether a request that left at the time sent may have been on its way during a freeze.
func (p *process) frozenSince(sent time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen || sent.Before(p.thawed.Add(onItsWay))
}

// next returns the action for a request. Actions that may not happen now wait for another request. The caller holds the lock.
func (r *run) next(f flight, planned disturbance) disturbance {
	if planned.act != actNone {
		r.due = append(r.due, planned)
	}
	for i := range r.due {
		if r.mayAct(f, &r.due[i]) {
			d := r.due[i]
			r.due = slices.Delete(r.due, i, i+1)
			return d
		}
	}
	return disturbance{}
}

// mayAct reports whether an action may happen now. A process that recovers from a freeze is not disturbed, because it may be about to
// send more payments of a lost lease; nor is another one that takes these payments over. Only one process is frozen at a time. A freeze
// waits some requests for a payment whose followers are unsent, because the process may have claimed them too. The caller holds the lock.
func (r *run) mayAct(f flight, d *disturbance) bool {
	switch recovers := r.frozen.recovers(); {
	case recovers && (d.act == actFreeze || f.process == r.frozen.process || r.frozen.isTakenOver()):
		return false
	case d.act != actFreeze:
		return true
	case d.waits > 0 && (f.payment+2 >= len(r.orders.list) || r.arrivals[f.payment+1]+r.arrivals[f.payment+2] > 0):
		d.waits--
		return false
	}
	r.frozen = newFreeze(f)
	if d.freeze = r.frozen; r.options.Copies == 1 {
		r.frozen.takeOver()
	}
	return true
}

// meets reports whether a request should run for long, so that it meets another one for its payment: it comes from a process that was
// frozen, or another copy has taken over from that process. The caller holds the lock.
func (r *run) meets(f flight) bool {
	if r.options.Copies == 1 || !r.frozen.recovers() {
		return false
	}
	if f.payment == r.frozen.payment && f.process != r.frozen.process {
		r.frozen.takeOver()
	}
	return f.process == r.frozen.process || r.frozen.isTakenOver()
}
