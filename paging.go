package prepaid

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
)

// Paging controls a paged operation. The zero value starts at page 1 with the service's page size, one page at a
// time.
type Paging struct {
	// Page is the first page to read, from 1; the only one for the ...Page methods. 1 when zero.
	Page int
	// Size is the requested page size; the service may apply another. The service's own when zero.
	Size int
	// Prefetch is the number of pages fetched ahead, in order, while the caller works on one: 0 fetches none. The
	// ...Page methods ignore it.
	Prefetch int
}

// Page is one page of a result. The zero value is an empty page.
type Page[T any] struct {
	// Items are the page's items.
	Items []T
	// Number is the page's number, from 1.
	Number int
	// Size is the page size as applied by the service; 0 when not told.
	Size int
	// TotalPages is the number of pages; 0 when not told.
	TotalPages int
	// TotalItems is the number of items on all pages; 0 when not told.
	TotalItems int

	told        bool   // paging headers were there
	fingerprint uint64 // of the body
	received    int    // items before any was dropped here
}

// Last reports whether no page follows: by the service's count, or because this page is empty.
func (p *Page[T]) Last() bool {
	if p.told || p.TotalPages > 0 {
		return p.Number >= p.TotalPages
	}
	return p.received == 0 && len(p.Items) == 0
}

// Format prints the page; items with personal data redact themselves.
func (p Page[T]) Format(f fmt.State, verb rune) { formatRedacted(f, verb, p) }

// LogValue logs the numbers, not the items: a JSON log would write them out whole.
func (p Page[T]) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("number", p.Number), slog.Int("items", len(p.Items)),
		slog.Int("total_pages", p.TotalPages), slog.Int("total_items", p.TotalItems))
}

// Collect reads at most limit items into a slice. It returns what it had with the first error, and [ErrTooMany]
// when there are more: a plain error, not a [*CallError], so [OutcomeOf] calls it unknown as it does any other; but it
// comes after reading, and nothing is in doubt. The rows of a report share one slice and are not for Collect.
func Collect[T any](seq iter.Seq2[T, error], limit int) ([]T, error) {
	var items []T
	for item, err := range seq {
		if err != nil {
			return items, err
		}
		if len(items) >= limit {
			return items, ErrTooMany
		}
		items = append(items, item)
	}
	return items, nil
}

// pageSeed makes fingerprints comparable within a process.
var pageSeed = maphash.MakeSeed()

// pageRequest adds the paging parameters to a copy of r.
func pageRequest(r request, number, size int, bulk bool) request {
	query := append(make(query, 0, len(r.query)+2), r.query...).with("page_number", strconv.Itoa(number))
	if size > 0 {
		query = query.with("page_size", strconv.Itoa(size))
	}
	r.query, r.bulk = query, bulk
	return r
}

// fetchPage reads one page. 204 is an empty one.
func fetchPage[T any](ctx context.Context, c *Client, r request, number, size int, bulk bool) (*Page[T], error) {
	number = max(number, 1)
	page := &Page[T]{Number: number}
	paged := pageRequest(r, number, size, bulk)
	err := c.do(ctx, &paged, func(a *attempt) error { return page.decode(a) })
	if err != nil {
		return nil, err
	}
	return page, nil
}

func (p *Page[T]) decode(a *attempt) error {
	p.readHeader(a.header)
	if a.status == http.StatusNoContent {
		return nil
	}
	body := bytes.TrimSpace(a.body)
	p.fingerprint = maphash.Bytes(pageSeed, body)
	if len(body) > 0 && body[0] == '{' { // company search: one account may come bare
		p.Items = make([]T, 1)
		if err := decodeJSON(a, &p.Items[0]); err != nil {
			return err
		}
	} else if err := decodeItems(a, &p.Items); err != nil {
		return err
	}
	p.received = len(p.Items)
	return nil
}

// readHeader takes the three paging headers; garbage counts as not told.
func (p *Page[T]) readHeader(header http.Header) {
	number := func(name string) (int, bool) {
		if n, err := strconv.Atoi(header.Get(name)); err == nil && n >= 0 {
			return n, true
		}
		return 0, false
	}
	p.Size, _ = number("X-PageSize")
	p.TotalItems, _ = number("X-TotalItems")
	p.TotalPages, p.told = number("X-TotalPages")
}

// items iterates over the items of all pages from paging.Page on. keep drops items; nil keeps all.
func items[T any](ctx context.Context, c *Client, r request, paging Paging, keep func(*T) bool) iter.Seq2[*T, error] {
	fetch := func(ctx context.Context, number int, bulk bool) (*Page[T], error) {
		return fetchPage[T](ctx, c, r, number, paging.Size, bulk)
	}
	return func(yield func(*T, error) bool) {
		pages := sequential(ctx, paging, fetch)
		if paging.Prefetch > 0 && len(r.faults) == 0 {
			pages = prefetched(ctx, paging, fetch)
		}
		var end pageEnd
		for page, err := range pages {
			if err != nil {
				if !end.seen || end.told || !errors.Is(err, ErrBadRequest) { // see pageEnd
					yield(nil, err)
				}
				return
			}
			last, err := end.after(page.told, page.Number, page.TotalPages, page.received, page.fingerprint)
			if err != nil {
				yield(nil, &CallError{Operation: r.op.Name, Outcome: OutcomeNotProcessed, AccountID: r.account, Err: err})
				return
			}
			for i := range page.Items {
				if keep != nil && !keep(&page.Items[i]) {
					continue
				}
				if !yield(&page.Items[i], nil) {
					return
				}
			}
			if last {
				return
			}
		}
	}
}

// pageEnd finds the last page: by X-TotalPages when told, otherwise by an empty page or one shorter than the
// first, or a 400, as a page_number beyond the last page may give. A page equal to the one before ends with an
// error: the service ignored page_number.
type pageEnd struct {
	seen        bool
	told        bool
	first       int // items of the first page
	fingerprint uint64
}

func (e *pageEnd) after(told bool, number, total, received int, fingerprint uint64) (bool, error) {
	if e.seen && received > 0 && fingerprint == e.fingerprint {
		return true, ErrPageRepeated
	}
	if !e.seen {
		e.first = received
	}
	e.seen, e.told, e.fingerprint = true, told, fingerprint
	if received == 0 {
		return true, nil
	}
	if told {
		return number >= total, nil
	}
	return received < e.first, nil
}

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

type pageFetcher[T any] func(ctx context.Context, number int, bulk bool) (*Page[T], error)

// prefetched reads pages side by side and yields them in order. The window grows 1, 2, 4 … so that a caller who
// stops early has paid for little, and never passes the last page once it is known.
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
		next, window, last := max(paging.Page, 1), 1, 0
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
			if r.err == nil && r.page.told { // without a known end a page ahead may not exist
				last = r.page.TotalPages
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
