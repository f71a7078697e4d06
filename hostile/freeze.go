package hostile

import "time"

// onItsWay is the time after a freeze in which a process may still send a request that it began before the freeze. No check of a lease can
// prevent this, so the request is lost. Meanwhile the process gets no response, so that no other request follows.
const onItsWay = 200 * time.Millisecond

// freeze is a freeze of a process during a request. If the process has claimed more payments, it may send them after its lease.
type freeze struct {
	process *process
	payment int           // of the request
	taken   chan struct{} // closed when another copy has taken over the payment
	isTaken bool
	until   time.Time // when requests from before the freeze cannot run any more; zero until the process continues
}

// freeze stops the process of the last freeze for Options.Freeze or longer, until another copy has taken over, but at most for twice this
// time.
func (r *run) freeze() bool {
	r.mu.Lock()
	z := r.frozen
	r.mu.Unlock()
	p, d, over := z.process, r.options.Freeze, make(chan struct{})
	recovered := func(after time.Duration) {
		r.mu.Lock()
		defer r.mu.Unlock()
		z.until = time.Now().Add(after)
	}
	p.responses.closeFor(time.Hour, over, &r.background, func() {})
	if !p.signal("FROZEN for "+d.String()+" or longer", true, freezeGroup) {
		close(over)
		recovered(0)
		return false
	}
	r.background.Go(func() {
		defer close(over)
		for _, enough := range []<-chan struct{}{nil, z.taken}[:min(r.options.Copies, 2)] { // with one copy, no other takes over
			select {
			case <-time.After(d):
			case <-enough:
			case <-p.exited:
			}
		}
		recovered(onItsWay + r.options.longest())
		p.signal("continues", false, thawGroup)
		time.Sleep(onItsWay)
	})
	return true
}

// frozenSince reports whether a request that left at the time sent may have been on its way during a freeze.
func (p *process) frozenSince(sent time.Time) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.frozen || sent.Before(p.thawed.Add(onItsWay))
}

// next returns the action for a request. During a freeze, and as long after it as requests from before may still run, actions wait for
// another request: the frozen process may be about to send more payments of a lost lease, and another copy takes these payments over. The
// caller holds the lock.
func (r *run) next(f flight, planned disturbance) (d disturbance) {
	if planned.act != actNone {
		r.due = append(r.due, planned)
	}
	if len(r.due) > 0 && !r.recovers() {
		d, r.due = r.due[0], r.due[1:]
	}
	if d.act == actFreeze {
		r.frozen = &freeze{process: f.process, payment: f.payment, taken: make(chan struct{})}
	}
	return d
}

// recovers reports whether a process is frozen, or continued so recently that requests from before the freeze may still run. The caller
// holds the lock.
func (r *run) recovers() bool {
	return r.frozen != nil && (r.frozen.until.IsZero() || time.Now().Before(r.frozen.until))
}

// meets reports whether a request should run for long, so that it meets another one for its payment: it comes from a process that was
// frozen, or another copy has taken over from that process. The caller holds the lock.
func (r *run) meets(f flight) bool {
	z := r.frozen
	if r.options.Copies == 1 || !r.recovers() {
		return false
	}
	if f.process != z.process && f.payment == z.payment && !z.isTaken {
		z.isTaken = true
		close(z.taken)
	}
	return z.isTaken || f.process == z.process
}
