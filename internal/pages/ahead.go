package pages

import (
	"context"
	"iter"
	"slices"
)

// Fetcher reads a page by number. ahead means that nobody waits for it yet.
type Fetcher[P any] func(ctx context.Context, number int, ahead bool) (P, error)

// Sequential reads one page after the other until the consumer stops.
func Sequential[P any](ctx context.Context, start int, fetch Fetcher[P]) iter.Seq2[P, error] {
	return func(yield func(P, error) bool) {
		for number := start; ; number++ {
			page, err := fetch(ctx, number, false)
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// Prefetched reads pages concurrently and yields them in order. The window grows 1, 2, 4 … so that little is wasted if the
// caller stops early, and never goes past the last page once that is known. If X-TotalItems shows that a page was served
// before its predecessor, it is read again: items may have moved between the two.
func Prefetched[P any](ctx context.Context, start, ahead int, fetch Fetcher[P], head func(P) Head) iter.Seq2[P, error] {
	type result struct {
		page P
		err  error
	}
	return func(yield func(P, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var waiting []chan result
		defer func() {
			cancel()
			for _, pending := range waiting { // wait for all goroutines
				<-pending
			}
		}()
		next, window, last, items := start, 1, 0, 0
		begin := func() {
			number, done := next, make(chan result, 1)
			early := len(waiting) > 0
			next++
			waiting = append(waiting, done)
			go func() {
				page, err := fetch(ctx, number, early)
				done <- result{page, err}
			}()
		}
		for {
			if len(waiting) == 0 {
				begin()
			}
			if len(waiting) <= ahead && next <= last { // the caller now waits for one of them
				begin()
			}
			r := <-waiting[0]
			waiting = slices.Delete(waiting, 0, 1)
			if r.err == nil {
				if page := head(r.page); page.Counted && page.Items < items {
					r.page, r.err = fetch(ctx, page.Number, false)
				}
			}
			if r.err == nil {
				page := head(r.page)
				if page.Reported && page.Counted { // without both, a page ahead may not exist or may be too old
					last, items = page.Pages, page.Items
					for len(waiting) < window && next <= last {
						begin()
					}
					window = min(window*2, ahead)
				}
			}
			if !yield(r.page, r.err) || r.err != nil {
				return
			}
		}
	}
}
