package prepaid

import (
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"net/http"
	"slices"
)

// IncompleteListError means that a list ended before everything was seen that the service had reported. The items seen
// are delivered before it. It matches [ErrListIncomplete].
//
// A search over such a list proves nothing. In a list that items may leave while it is read (accounts by status,
// undeliverable messages) it may be harmless: an item that left moved another one to a page that had been read. The
// zero value is not used.
type IncompleteListError struct {
	// Seen is the number of distinct items that the service returned, from Paging.Page on.
	Seen int
	// Total is the number that was due, from Paging.Page on; 0 when the service reported pages but no number of items.
	Total int
}

// Error gives both numbers.
func (e *IncompleteListError) Error() string {
	if e.Total == 0 {
		return fmt.Sprintf("prepaid: list incomplete: %d items seen, and a page is missing", e.Seen)
	}
	return fmt.Sprintf("prepaid: list incomplete: %d of %d items seen", e.Seen, e.Total)
}

// Is matches [ErrListIncomplete].
func (e *IncompleteListError) Is(target error) bool { return target == ErrListIncomplete }

// pageList describes a list that is read in pages.
type pageList[T any] struct {
	request request
	paging  Paging
	// identity distinguishes the items of the list.
	identity func(*T) string
	// leaves: items may leave the list while it is read, so a page that was promised may legitimately be gone.
	leaves bool
	// keep drops items that were not asked for; nil keeps all. What it drops still counts as seen.
	keep func(*T) bool
	// opened sees the first page before its items are delivered; false ends the iteration. May be nil.
	opened func(*Page[T]) bool
}

// page reads the page that Paging names.
func (l pageList[T]) page(ctx context.Context, c *core) (*Page[T], error) {
	page, err := l.fetch(ctx, c, l.paging.Page, false)
	if err == nil && l.keep != nil {
		kept := page.Items[:0]
		for i := range page.Items {
			if l.keep(&page.Items[i]) {
				kept = append(kept, page.Items[i])
			}
		}
		page.Items = kept
	}
	return page, err
}

// all iterates over the items of all pages from Paging.Page on: each item that was there when the first page was served
// is delivered once, later ones at most once, however the service sorts. Insertions move items to later pages only, so
// reading the pages in order, up to the newest X-TotalPages, meets every item; what was met before is dropped.
func (l pageList[T]) all(ctx context.Context, c *core) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		fetch := func(ctx context.Context, number int, bulk bool) (*Page[T], error) {
			return l.fetch(ctx, c, number, bulk)
		}
		pages := sequential(ctx, l.paging, fetch)
		if l.paging.Prefetch > 0 && len(l.request.faults) == 0 {
			pages = prefetched(ctx, l.paging, fetch)
		}
		read := progress{start: max(l.paging.Page, 1), leaves: l.leaves}
		fail := func(err error) {
			yield(nil, &CallError{Operation: l.request.op.Name, Outcome: OutcomeNotProcessed, AccountID: l.request.account, Err: err})
		}
		for page, err := range pages {
			if err != nil {
				if ended, incomplete := read.endsWith(err); !ended {
					yield(nil, err)
				} else if incomplete != nil {
					fail(incomplete)
				}
				return
			}
			if l.opened != nil && read.pages == 0 && !l.opened(page) {
				return
			}
			read.begin(page.head())
			for i := range page.Items {
				item := &page.Items[i]
				if read.isNew(l.identity(item)) && (l.keep == nil || l.keep(item)) && !yield(item, nil) {
					return
				}
			}
			if last, err := read.end(); err != nil {
				fail(err)
				return
			} else if last {
				return
			}
		}
	}
}

// pageHead is what a page says about its list, and about itself.
type pageHead struct {
	number, size, pages, items, received int
	reported, counted, bare              bool
}

func (p *Page[T]) head() pageHead {
	return pageHead{
		number: p.Number, size: p.Size, pages: p.TotalPages, items: p.TotalItems, received: p.received,
		reported: p.reported, counted: p.counted, bare: p.bare,
	}
}

// progress is what an iteration has read of its list, and what the service reported about it.
type progress struct {
	start  int  // number of the first page
	leaves bool // see pageList

	seeds    [2]maphash.Seed
	seen     map[itemKey]struct{}
	pages    int // pages read
	filled   int // of them, those with items
	size     int // items of the first page
	reported bool
	last     int // the newest X-TotalPages, when reported
	due      int // pages from start on, by the first X-TotalPages
	counted  bool
	items    int // X-TotalItems of the first page, when counted
	promised int // of them, those from start on
	again    int // items met again, on a later page
	most     int // the largest X-TotalItems of the pages before the one at hand

	page  pageHead // at hand
	fresh int      // items of it that were not seen before
	ends  bool     // its last item is one of them
}

// itemKey is a hash of an item's id that no two ids share in practice. Unlike the id it does not keep the texts of a
// whole item in memory: a list costs about 40 bytes an item while it is read.
type itemKey [2]uint64

// isNew reports whether the item was not seen before, and notes it.
func (p *progress) isNew(id string) bool {
	key := itemKey{maphash.String(p.seeds[0], id), maphash.String(p.seeds[1], id)}
	before := len(p.seen)
	p.seen[key] = struct{}{}
	p.ends = len(p.seen) > before
	if p.ends {
		p.fresh++
	} else {
		p.again++
	}
	return p.ends
}

// begin takes a page, before its items are gone through.
func (p *progress) begin(page pageHead) {
	const mostRoom = 1 << 12
	if p.pages == 0 {
		p.size = page.received
		p.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		p.seen = make(map[itemKey]struct{}, min(max(page.items, page.received), mostRoom))
		if page.counted && (p.start == 1 || page.size > 0) {
			p.counted, p.items, p.promised = true, page.items, max(page.items-(p.start-1)*page.size, 0)
		}
	}
	if page.reported {
		if !p.reported && (page.received > 0 || page.pages > 1) { // an empty list may be called one page
			p.due = page.pages - p.start + 1
		}
		p.reported, p.last = true, page.pages
	}
	if p.page.counted {
		p.most = max(p.most, p.page.items)
	}
	p.page, p.fresh, p.ends = page, 0, true
	p.pages++
	if page.received > 0 {
		p.filled++
	}
}

// end decides what the page means, once its items were gone through.
func (p *progress) end() (last bool, err error) {
	switch {
	case p.page.received == 0:
		return true, p.short()
	case p.repeats() && p.counted && p.missing() == nil:
		return true, nil
	case p.repeats():
		return true, ErrPageRepeated
	case p.reported:
		if p.page.number >= p.last {
			return true, p.short()
		}
		return p.outruns()
	case p.page.bare:
		return true, nil // one object in place of a list is all there is
	}
	return p.page.received < p.size && p.short() == nil, nil
}

// outruns ends an iteration whose list grows as fast as it is read, as one does whose reader adds an item for each. When
// no item has moved, what was added follows all that was there at first, which is then complete.
func (p *progress) outruns() (last bool, err error) {
	const allowance = 1000 // items
	if p.growth() <= p.items+allowance || p.page.number < p.start+p.due-1 {
		return false, nil
	}
	if p.again > 0 {
		return true, &IncompleteListError{Seen: len(p.seen), Total: p.page.items}
	}
	return true, p.missing()
}

// repeats reports whether a page has nothing new: the service ignores page_number. Each item that was added may have
// brought up another one again, and no more than one. Unless pages and items are counted, a page whose last item
// was met before is taken for a repetition as well, or a service that adds to its only page would be read for ever.
func (p *progress) repeats() bool {
	return p.pages > 1 && (p.fresh == 0 && p.again > p.growth() || !(p.reported && p.counted) && !p.ends)
}

// growth is how many items were added since the first page; 0 when the service does not count them.
func (p *progress) growth() int {
	if !p.counted || !p.page.counted {
		return 0
	}
	return p.page.items - p.items
}

// endsWith decides what a failed page means: the end of a list, when it may be the service's refusal of a page number
// beyond the last.
func (p *progress) endsWith(err error) (ended bool, incomplete error) {
	refusal, ok := errors.AsType[*APIError](err)
	if !ok || p.pages == 0 || refusal.StatusCode != http.StatusBadRequest || refusal.Code == "" || refusal.Code == CodeInvalidHookID {
		return false, nil
	}
	incomplete = p.short()
	return !p.reported || p.leaves || incomplete == nil, incomplete
}

// missing is an error when less was seen than the service promised.
func (p *progress) missing() error {
	switch {
	case p.counted && len(p.seen) < p.promised:
		return &IncompleteListError{Seen: len(p.seen), Total: p.promised}
	case !p.counted && p.reported && p.filled < p.due:
		return &IncompleteListError{Seen: len(p.seen)}
	}
	return nil
}

// short is missing, also when what was added meanwhile made up for what was not seen: the pages of a list that nothing
// leaves have at least as many items, those met again included, as were counted before the last of them was served.
func (p *progress) short() error {
	due := p.promised + max(p.most-p.items, 0)
	if p.counted && !p.leaves && len(p.seen)+p.again < due {
		return &IncompleteListError{Seen: len(p.seen), Total: due}
	}
	return p.missing()
}

type pageFetcher[T any] func(ctx context.Context, number int, bulk bool) (*Page[T], error)

// sequential reads one page after the other. Its consumer stops it.
func sequential[T any](ctx context.Context, paging Paging, fetch pageFetcher[T]) iter.Seq2[*Page[T], error] {
	return func(yield func(*Page[T], error) bool) {
		for number := max(paging.Page, 1); ; number++ {
			page, err := fetch(ctx, number, false)
			if !yield(page, err) || err != nil {
				return
			}
		}
	}
}

// prefetched reads pages side by side and yields them in order. The window grows 1, 2, 4 … so that a caller who
// stops early has paid for little, and never passes the last page once it is known. A page that was served before the
// one that precedes it, which X-TotalItems shows, is read again: items may have moved from it to that one and back.
func prefetched[T any](ctx context.Context, paging Paging, fetch pageFetcher[T]) iter.Seq2[*Page[T], error] {
	type result struct {
		page *Page[T]
		err  error
	}
	return func(yield func(*Page[T], error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		var waiting []chan result
		defer func() {
			cancel()
			for _, pending := range waiting { // leave no goroutine behind
				<-pending
			}
		}()
		next, window, last, items := max(paging.Page, 1), 1, 0, 0
		start := func() {
			number, done := next, make(chan result, 1)
			bulk := len(waiting) > 0
			next++
			waiting = append(waiting, done)
			go func() {
				page, err := fetch(ctx, number, bulk)
				done <- result{page, err}
			}()
		}
		for {
			if len(waiting) == 0 {
				start()
			}
			if len(waiting) <= paging.Prefetch && next <= last { // the caller now waits for one of them
				start()
			}
			r := <-waiting[0]
			waiting = slices.Delete(waiting, 0, 1)
			if r.err == nil && r.page.counted && r.page.TotalItems < items {
				r.page, r.err = fetch(ctx, r.page.Number, false)
			}
			if r.err == nil && r.page.reported && r.page.counted { // without both, a page ahead may not exist or be too old
				last, items = r.page.TotalPages, r.page.TotalItems
				for len(waiting) < window && next <= last {
					start()
				}
				window = min(window*2, paging.Prefetch)
			}
			if !yield(r.page, r.err) || r.err != nil {
				return
			}
		}
	}
}
