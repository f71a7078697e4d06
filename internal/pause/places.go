package pause

import (
	"context"
	"sync"
)

// Places limits how many payments are sent at the same time. A payment gives its place back while it waits in [Aside]. If many
// payments in a row are in doubt, the service may be away: then no new payment begins, until an outcome is known or all have waited.
type Places struct {
	changed *sync.Cond
	free    int
	aside   int
	doubts  int // payments that went aside since the last known outcome
	most    int
	moved   func(places int)
}

// NewPlaces returns n places. Unless it is nil, moved is called with -1 when a payment goes aside, and with 1 when it returns.
func NewPlaces(n int, moved func(places int)) *Places {
	return &Places{changed: sync.NewCond(new(sync.Mutex)), free: n, most: max(n, 8), moved: moved}
}

// mostAside bounds how many payments wait aside, and thus memory.
const mostAside = 1000

// Take waits for a place. A payment is new if it was never sent.
func (p *Places) Take(isNew bool) {
	p.take(func() bool { return p.aside >= mostAside || isNew && p.aside > 0 && p.doubts >= p.most })
}

func (p *Places) take(blocked func() bool) {
	p.changed.L.Lock()
	defer p.changed.L.Unlock()
	for p.free == 0 || blocked() {
		p.changed.Wait()
	}
	p.free--
}

// Leave gives a place back. If known is true, the outcome of the payment is known.
func (p *Places) Leave(known bool) {
	p.change(func() {
		p.free++
		if known {
			p.doubts = 0
		}
	})
}

func (p *Places) change(change func()) {
	p.changed.L.Lock()
	defer p.changed.L.Unlock()
	change()
	p.changed.Broadcast()
}

func (p *Places) move(places int) {
	if p.moved != nil {
		p.moved(places)
	}
}

type placesKey struct{}

// With returns a context for a payment that has a place.
func (p *Places) With(ctx context.Context) context.Context {
	return context.WithValue(ctx, placesKey{}, p)
}

// Aside calls wait. If ctx is from [Places.With], the payment has no place during the call.
func Aside(ctx context.Context, wait func(context.Context) error) error {
	p, _ := ctx.Value(placesKey{}).(*Places)
	if p == nil {
		return wait(ctx)
	}
	p.move(-1)
	p.change(func() { p.free, p.aside, p.doubts = p.free+1, p.aside+1, p.doubts+1 })
	defer func() {
		p.change(func() { p.aside-- })
		p.take(func() bool { return false })
		p.move(1)
	}()
	return wait(context.WithValue(ctx, placesKey{}, (*Places)(nil)))
}
