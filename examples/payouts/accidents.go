package main

import (
	"context"
	"time"
)

// lostAtOnce is how many responses a press of l loses.
const lostAtOnce = 20

// frozenFor is longer than a lease, which is one and a half calls and the rest: others take over what was about to be sent.
func (d *demo) frozenFor() time.Duration {
	return 2*d.call + d.config.AttemptTimeout + d.config.Retry.InFlightWait
}

// patience is how long nothing may change once all orders are placed. A worker that died holds up its payments for less.
func (d *demo) patience() time.Duration { return 2 * d.frozenFor() }

// press causes the accident of a key, and reports whether there was one: nobody kills a process that is not running.
func (d *demo) press(ctx context.Context, key byte) bool {
	switch key {
	case '1', '2', '3':
		return d.kill(d.workers[key-'1'])
	case 'k':
		return d.next(d.kill)
	case 'w':
		return d.kill(d.web)
	case 'f':
		return d.next(func(p *process) bool { return d.freeze(ctx, p) })
	case 'p':
		return d.crash(ctx)
	case 'l':
		if d.service.lose(lostAtOnce) {
			d.event("%d payments are made, and their responses lost", lostAtOnce)
			return true
		}
	case 'q':
		d.event("no more orders; what was ordered is paid")
		d.customers.stop()
	}
	return false
}

// next does it to the next worker to which it can be done.
func (d *demo) next(do func(*process) bool) bool {
	for range d.workers {
		d.turn++
		if do(d.workers[d.turn%len(d.workers)]) {
			return true
		}
	}
	return false
}

func (d *demo) kill(p *process) bool {
	if !p.kill() {
		return false
	}
	d.tally.kills.Add(1)
	return true
}

func (d *demo) freeze(ctx context.Context, p *process) bool {
	if !p.freeze() {
		return false
	}
	d.tally.freezes.Add(1)
	d.accident(func() {
		sleep(ctx, d.frozenFor())
		p.thaw()
	})
	return true
}

// crash kills Postgres and starts it again a second later.
func (d *demo) crash(ctx context.Context) bool {
	own := d.postgres.own
	if own == nil || !d.crashing.CompareAndSwap(false, true) {
		return false
	}
	d.tally.crashes.Add(1)
	d.accident(func() {
		defer d.crashing.Store(false)
		if err := own.Kill(); err != nil {
			d.fail(err)
			return
		}
		d.event("Postgres killed, with all its processes")
		sleep(ctx, time.Second)
		began := time.Now()
		if err := own.Restart(context.WithoutCancel(ctx)); err != nil { // the workers finish with it
			d.fail(err)
			return
		}
		d.event("Postgres accepts connections again, %.1f s after its start", time.Since(began).Seconds())
	})
	return true
}

// sleep ends early with ctx.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}

// accident runs what has to end before the demonstration does.
func (d *demo) accident(run func()) {
	d.busy.Add(1)
	d.work.Go(func() {
		defer d.busy.Add(-1)
		run()
	})
}
