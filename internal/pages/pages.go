// Package pages reads lists that a service returns in pages, and decides when all of a list was seen.
//
// It promises that each item that was there when the first page was served is met once, later ones at most once, however
// the service sorts: insertions move items to later pages only, so reading the pages in order, up to the newest number of
// pages, meets every item, and what was met before is dropped. A list that ends before everything was seen that was counted
// is an error.
//
// It knows neither requests nor the types of items: its caller fetches the pages and names the items. It does not read
// headers, and it does not decide whether an item was asked for.
package pages

import (
	"errors"
	"hash/maphash"
)

// ErrRepeated means that a page had only items of the pages before it.
var ErrRepeated = errors.New("page repeats earlier ones")

// Incomplete means that a list ended before everything was seen that was counted.
type Incomplete struct {
	// Seen is the number of distinct items.
	Seen int
	// Total is the number that was due; 0 when only pages were counted.
	Total int
}

// Error is for a caller that does not make its own error of it.
func (*Incomplete) Error() string { return "list incomplete" }

// Head is what a page says about its list, and about itself.
type Head struct {
	// Number is the page's own, from 1. Size, Pages and Items are the service's, and Received is how many items came.
	Number, Size, Pages, Items, Received int
	// Reported and Counted say whether Pages and Items were there. Bare is one object in place of a list.
	Reported, Counted, Bare bool
}

// Progress is what was read of a list, and what the service reported about it. Begin each page, ask of each of its items
// whether it is new, and end the page.
type Progress struct {
	start  int  // number of the first page
	leaves bool // items may leave the list while it is read

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

	page  Head // at hand
	fresh int  // items of it that were not seen before
	ends  bool // its last item is one of them
}

// NewProgress is that of a list of which nothing was read. start is the number of the first page.
func NewProgress(start int, leaves bool) Progress { return Progress{start: start, leaves: leaves} }

// Started reports whether a page was begun.
func (p *Progress) Started() bool { return p.pages > 0 }

// itemKey is a hash of an item's id that no two ids share in practice. Unlike the id it does not keep the texts of a
// whole item in memory: a list costs about 40 bytes an item while it is read.
type itemKey [2]uint64

// IsNew reports whether the item was not seen before, and notes it.
func (p *Progress) IsNew(id string) bool {
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

// Begin takes a page, before its items are gone through.
func (p *Progress) Begin(page Head) {
	const mostRoom = 1 << 12
	if p.pages == 0 {
		p.size = page.Received
		p.seeds = [2]maphash.Seed{maphash.MakeSeed(), maphash.MakeSeed()}
		p.seen = make(map[itemKey]struct{}, min(max(page.Items, page.Received), mostRoom))
		if page.Counted && (p.start == 1 || page.Size > 0) {
			p.counted, p.items, p.promised = true, page.Items, max(page.Items-(p.start-1)*page.Size, 0)
		}
	}
	if page.Reported {
		if !p.reported && (page.Received > 0 || page.Pages > 1) { // an empty list may be called one page
			p.due = page.Pages - p.start + 1
		}
		p.reported, p.last = true, page.Pages
	}
	if p.page.Counted {
		p.most = max(p.most, p.page.Items)
	}
	p.page, p.fresh, p.ends = page, 0, true
	p.pages++
	if page.Received > 0 {
		p.filled++
	}
}

// End decides what the page means, once its items were gone through.
func (p *Progress) End() (last bool, err error) {
	switch {
	case p.page.Received == 0:
		return true, p.short()
	case p.repeats() && p.counted && p.missing() == nil:
		return true, nil
	case p.repeats():
		return true, ErrRepeated
	case p.reported:
		if p.page.Number >= p.last {
			return true, p.short()
		}
		return p.outruns()
	case p.page.Bare:
		return true, nil // one object in place of a list is all there is
	}
	return p.page.Received < p.size && p.short() == nil, nil
}

// outruns ends an iteration whose list grows as fast as it is read, as one does whose reader adds an item for each. When
// no item has moved, what was added follows all that was there at first, which is then complete.
func (p *Progress) outruns() (last bool, err error) {
	const allowance = 1000 // items
	if p.growth() <= p.items+allowance || p.page.Number < p.start+p.due-1 {
		return false, nil
	}
	if p.again > 0 {
		return true, &Incomplete{Seen: len(p.seen), Total: p.page.Items}
	}
	return true, p.missing()
}

// repeats reports whether a page has nothing new: the service ignores page_number. Each item that was added may have
// brought up another one again, and no more than one. Unless pages and items are counted, a page whose last item
// was met before is taken for a repetition as well, or a service that adds to its only page would be read for ever.
func (p *Progress) repeats() bool {
	return p.pages > 1 && (p.fresh == 0 && p.again > p.growth() || !(p.reported && p.counted) && !p.ends)
}

// growth is how many items were added since the first page; 0 when the service does not count them.
func (p *Progress) growth() int {
	if !p.counted || !p.page.Counted {
		return 0
	}
	return p.page.Items - p.items
}

// Refused decides what a refused page number means: the end of the list, when it may be beyond the last. err is then of a
// list that is incomplete.
func (p *Progress) Refused() (ended bool, err error) {
	if p.pages == 0 {
		return false, nil
	}
	err = p.short()
	return !p.reported || p.leaves || err == nil, err
}

// missing is an error when less was seen than the service promised.
func (p *Progress) missing() error {
	switch {
	case p.counted && len(p.seen) < p.promised:
		return &Incomplete{Seen: len(p.seen), Total: p.promised}
	case !p.counted && p.reported && p.filled < p.due:
		return &Incomplete{Seen: len(p.seen)}
	}
	return nil
}

// short is missing, also when as many items were added meanwhile as were not seen: the pages of a list that nothing
// leaves have at least as many items, those met again included, as were counted before the last of them was served.
func (p *Progress) short() error {
	due := p.promised + max(p.most-p.items, 0)
	if p.counted && !p.leaves && len(p.seen)+p.again < due {
		return &Incomplete{Seen: len(p.seen), Total: due}
	}
	return p.missing()
}
