// Package pages reads lists that a service returns in pages, and decides when a whole list was seen.
//
// Whatever the order of the list, each item that existed when the first page was served is delivered once, and each later
// item at most once. Insertions move items only to later pages. So reading the pages in order, up to the newest reported
// number of pages, finds every item; duplicates are dropped. If a list ends with fewer items seen than counted, that is an error.
//
// The package knows neither requests nor the types of items: its caller fetches the pages and identifies the items. It
// does not read headers and does not filter items.
package pages

import (
	"errors"
	"hash/maphash"
)

// ErrRepeated means that a page had only items of earlier pages.
var ErrRepeated = errors.New("page repeats earlier ones")

// Incomplete means that a list ended with fewer items seen than counted.
type Incomplete struct {
	// Seen is the number of distinct items.
	Seen int
	// Total is the expected number; 0 if only pages were counted.
	Total int
	// Err is [ErrRepeated] or nil.
	Err error
}

// Unwrap returns Err.
func (e *Incomplete) Unwrap() error { return e.Err }

// Error implements error. The client returns its own error instead.
func (*Incomplete) Error() string { return "list incomplete" }

// Head describes a page and its list.
type Head struct {
	// Number is the page's number; the first is 1. The service reports Size, Pages and Items; Received is how many items arrived.
	Number, Size, Pages, Items, Received int
	// Reported and Counted say whether Pages and Items were present. Bare means one object instead of a list.
	Reported, Counted, Bare bool
}

// Progress is the state of reading a list, with the counts that the service reported. For each page call Begin, IsNew for
// each of its items, and End.
type Progress struct {
	start  int  // number of the first page
	leaves bool // items may leave the list while it is read

	seeds    [2]maphash.Seed
	seen     map[itemKey]position
	pages    int // number of pages that were read
	filled   int // number of pages that were read and had items
	size     int // number of items of the first page
	reported bool
	last     int // the newest X-TotalPages, if reported
	due      int // expected pages from start on, by the first X-TotalPages
	counted  bool
	items    int // X-TotalItems of the first page, if counted
	expected int // the number of items from page start on
	repeated int // items seen again on a later page
	maxItems int // the largest X-TotalItems before the current page

	page      Head // the current page
	added     int  // items that were added since the previous page; 0 if not counted
	followed  bool // the page follows one that had fewer items than the first
	place     int  // the place of the current page's next item
	restarts  bool // the page has an item that was at the same or an earlier place on the previous page
	fresh     int  // the number of items on the page that were not seen before
	lastFresh bool // the last item of the page was not seen before
}

// NewProgress returns the Progress of a list before its first page is read. start is the number of the first page.
func NewProgress(start int, leaves bool) Progress { return Progress{start: start, leaves: leaves} }

// Started reports whether a page was begun.
func (p *Progress) Started() bool { return p.pages > 0 }

// itemKey is a hash of an item's ID; collisions do not happen in practice. Unlike the ID, the hash does not keep the texts of
// the whole item in memory: a list needs about 40 bytes per item while it is read.
type itemKey [2]uint64

// position is where an item was seen last: the page, counted from the first one read, and the place on it.
type position struct{ page, place int32 }

// IsNew reports whether the item was not seen before, and records it.
func (p *Progress) IsNew(id string) bool {
	key := itemKey{maphash.String(p.seeds[0], id), maphash.String(p.seeds[1], id)}
	last, seen := p.seen[key]
	here := position{int32(p.pages), int32(p.place)} //nolint:gosec // far below their limits
	p.lastFresh = !seen
	if p.lastFresh {
		p.fresh++
	} else {
		p.repeated++
		p.restarts = p.restarts || last.page == here.page-1 && last.place <= here.place
	}
	p.seen[key] = here
	p.place++
	return p.lastFresh
}

// Begin starts a page. Call it before the items of the page are examined.
func (p *Progress) Begin(page Head) {
	const mostRoom = 1 << 12
	if p.pages == 0 {
		p.size = page.Received
		p.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		p.seen = make(map[itemKey]position, min(max(page.Items, page.Received), mostRoom))
		if page.Counted && (p.start == 1 || page.Size > 0) {
			p.counted, p.items, p.expected = true, page.Items, max(page.Items-(p.start-1)*page.Size, 0)
		}
	}
	if page.Reported {
		if !p.reported && (page.Received > 0 || page.Pages > 1) { // an empty list may be reported as one page
			p.due = page.Pages - p.start + 1
		}
		p.reported, p.last = true, page.Pages
	}
	p.followed = p.page.Received < p.size
	if p.added = 0; p.page.Counted {
		p.added = page.Items - p.page.Items
		p.maxItems = max(p.maxItems, p.page.Items)
	}
	p.page, p.fresh, p.lastFresh = page, 0, true
	p.place, p.restarts = 0, false
	p.pages++
	if page.Received > 0 {
		p.filled++
	}
}

// End decides whether the page is the last one. Call it after all items of the page were examined.
func (p *Progress) End() (last bool, err error) {
	switch {
	case p.page.Received == 0:
		return true, p.short()
	case p.repeats() && p.counted && p.missing() == nil:
		return true, nil
	case p.fresh == 0 && p.followed && !p.reported && !p.counted: // the last page is repeated for a number beyond it
		return true, nil
	case p.repeats():
		return true, &Incomplete{Seen: len(p.seen), Total: p.expected, Err: ErrRepeated}
	case p.reported:
		if p.page.Number >= p.last {
			return true, p.short()
		}
		return p.outgrows()
	case p.page.Bare:
		return true, nil // one object instead of a list is everything
	}
	return p.counted && p.page.Received < p.size && p.short() == nil, nil
}

// outgrows ends an iteration over a list that grows as fast as it is read, for example because the reader adds an item for
// each item. If no item has moved, the added items follow the original items, so all original items were seen.
func (p *Progress) outgrows() (last bool, err error) {
	const allowance = 1000 // items
	if p.growth() <= p.items+allowance || p.page.Number < p.start+p.due-1 {
		return false, nil
	}
	if p.repeated > 0 {
		return true, &Incomplete{Seen: len(p.seen), Total: p.page.Items}
	}
	return true, p.missing()
}

// repeats reports whether the service ignores page_number: a page has nothing new although each added item may cause only one repeated
// item, or it is the previous page with the added items. Added items move other items from the end of one page to the start of the next
// page, which is an earlier place, unless a whole page is added meanwhile. If the service does not count both pages and items,
// a page whose last item was seen before is a repetition too; otherwise a service that adds to its only page would be read for ever.
func (p *Progress) repeats() bool {
	again := p.fresh == 0 && p.repeated > p.growth() || p.restarts && p.fresh <= p.added && p.added < p.page.Received
	return p.pages > 1 && (again || !(p.reported && p.counted) && !p.lastFresh)
}

// growth returns how many items were added since the first page; 0 if the service does not count them.
func (p *Progress) growth() int {
	if !p.counted || !p.page.Counted {
		return 0
	}
	return p.page.Items - p.items
}

// Refused reports whether a list whose next page was refused is incomplete.
func (p *Progress) Refused() error { return p.short() }

// missing returns an error if fewer items (or, without a count of items, fewer pages) were seen than the service counted at first.
func (p *Progress) missing() error {
	switch {
	case p.counted && len(p.seen) < p.expected:
		return &Incomplete{Seen: len(p.seen), Total: p.expected}
	case !p.counted && p.reported && p.filled < p.due:
		return &Incomplete{Seen: len(p.seen)}
	}
	return nil
}

// short is like missing, but added items do not hide unseen items. If nothing leaves a list, its pages together have at least
// as many items, including repeated items, as the service counted before the last page was served.
func (p *Progress) short() error {
	due := p.expected + max(p.maxItems-p.items, 0)
	if p.counted && !p.leaves && len(p.seen)+p.repeated < due {
		return &Incomplete{Seen: len(p.seen), Total: due}
	}
	return p.missing()
}
