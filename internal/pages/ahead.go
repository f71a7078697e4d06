package pages

import (
	"context"
	"iter"
	"math"
	"slices"
)

// Fetcher reads a page by number. awaited is closed when the consumer begins to wait; nil means that the consumer already waits.
type Fetcher[P any] func(ctx context.Context, number int, awaited <-chan struct{}) (P, error)

// Sequential reads one page after the other until the consumer stops.
func Sequential[P any](ctx context.Context, start int, fetch Fetcher[P]) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for number := start; ; number++ {
			page, err := fetch(ctx, number, nil)
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// Prefetched yields all pages in order. While the consumer waits for a page or works on it, Prefetched reads further pages,
// as many as ahead says. The first page is read alone, since it reports the number of pages. No page after the last is
// requested. So n pages take 1+ceil((n-1)/(ahead+1)) rounds.
//
// A new item moves other items to later pages. So a page is read again unless X-TotalItems shows that it was
// served after its predecessor. All such pages that have arrived are read again together.
func Prefetched[P any](ctx context.Context, start, ahead int, fetch Fetcher[P], head func(P) Head) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		w := window[P]{fetch: fetch, head: head, next: start}
		defer func() {
			cancel()
			for _, p := range w.waiting { // wait for all goroutines
				<-p.arrived
			}
		}()
		for {
			if len(w.waiting) == 0 {
				w.begin(ctx, nil)
			}
			w.fill(ctx, ahead+1) // the caller waits for one of these pages
			page, err := w.take(ctx)
			if err == nil {
				w.fill(ctx, ahead)
			}
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// window holds the pages that were requested and not yet yielded, in order.
type window[P any] struct {
	fetch   Fetcher[P]
	head    func(P) Head
	waiting []*pending[P]
	next    int // the page to request next
	last    int // the last page by the newest count; 0 if unknown
	items   int // X-TotalItems of the last page yielded
}

// pending is a page that was requested.
type pending[P any] struct {
	number  int
	after   bool          // the predecessor had arrived when this page was requested
	awaited chan struct{} // nil if the consumer waited from the start
	arrived chan struct{} // closed when page and err are set
	page    P
	err     error
}

func (p *pending[P]) hasArrived() bool {
	select {
	case <-p.arrived:
		return true
	default:
		return false
	}
}

// fill requests pages until size pages are waiting, or none is left.
func (w *window[P]) fill(ctx context.Context, size int) {
	for len(w.waiting) < size && w.next <= w.last {
		w.begin(ctx, make(chan struct{}))
	}
}

// begin requests the next page.
func (w *window[P]) begin(ctx context.Context, awaited chan struct{}) {
	n := len(w.waiting)
	p := &pending[P]{number: w.next, after: n == 0 || w.waiting[n-1].hasArrived(), awaited: awaited}
	w.waiting = append(w.waiting, p)
	w.next++
	w.request(ctx, p)
}

func (w *window[P]) request(ctx context.Context, p *pending[P]) {
	p.arrived = make(chan struct{})
	go func() {
		defer close(p.arrived)
		p.page, p.err = w.fetch(ctx, p.number, p.awaited)
	}()
}

// take waits for the first page and removes it from the window.
func (w *window[P]) take(ctx context.Context) (P, error) {
	p := w.waiting[0]
	w.waiting = slices.Delete(w.waiting, 0, 1)
	if p.awaited != nil {
		close(p.awaited)
	}
	<-p.arrived
	if w.stale(p) {
		w.restart(ctx)
		p.page, p.err = w.fetch(ctx, p.number, nil)
	}
	if p.err != nil {
		return p.page, p.err
	}
	if head := w.head(p.page); head.Reported && head.Counted {
		w.last, w.items = head.Pages, head.Items
	} else { // a page ahead may not exist, and the requested pages may be too old
		w.last, w.items = 0, math.MaxInt
	}
	return p.page, nil
}

// stale reports whether p has arrived and may have been served before the page that was yielded last.
func (w *window[P]) stale(p *pending[P]) bool {
	if !p.hasArrived() || p.err != nil || p.after {
		return false
	}
	head := w.head(p.page)
	return !head.Counted || head.Items < w.items
}

// restart requests the stale pages again. The caller itself rereads the page that precedes them.
func (w *window[P]) restart(ctx context.Context) {
	again := true
	for _, p := range w.waiting {
		p.after = p.after && !again // after was about the earlier copy of the predecessor
		if again = w.stale(p); again {
			w.request(ctx, p)
		}
	}
}
