package hostile

import "time"

// onItsWay is the time after a freeze in which a process may still send a request that it began before the freeze. No check of a lease can
// prevent this, so the request is lost. Meanwhile the process gets no response, so that no other request follows.
const onItsWay = 200 * time.Millisecond

// freeze stops a process for Options.Freeze.
func (r *run) freeze(p *process) bool {
	over := make(chan struct{})
	p.responses.closeFor(time.Hour, over, &r.background, func() {})
	if !p.signal("FROZEN for "+r.options.Freeze.String(), true, freezeGroup) {
		close(over)
		return false
	}
	r.background.Go(func() {
		defer close(over)
		select {
		case <-time.After(r.options.Freeze):
		case <-p.exited:
		}
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
func (r *run) next(planned disturbance) (d disturbance) {
	if planned.act != actNone {
		r.due = append(r.due, planned)
	}
	if len(r.due) > 0 && !r.recovers() {
		d, r.due = r.due[0], r.due[1:]
	}
	if d.act == actFreeze {
		r.frozen = time.Now()
	}
	return d
}

// recovers reports whether a process is frozen, or continued so recently that requests from before the freeze may still run. Requests then
// run for long, so that those of both copies meet. The caller holds the lock.
func (r *run) recovers() bool {
	return time.Since(r.frozen) < r.options.Freeze+onItsWay+r.options.longest()
}
