package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"log/slog"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pages"
	"github.com/cardprograms/prepaid/internal/redact"
)

// defaultPageSize is requested if Paging.Size is zero. Version 1.0 of the service requires a page size (9.3).
const defaultPageSize = 100

// Paging controls a paged operation. After all received items, an iterator ends with an *[IncompleteListError] if it saw fewer
// items than the service counted, or if the service ignores the page number.
type Paging struct {
	Page int // the first page to read, or the only one for the ...Page methods; pages count from 1; default: 1
	Size int // the requested page size, in items; default: 100; the service may apply another size ([Page].Size): its limits are unspecified
	// Prefetch is the number of pages to fetch ahead while you work on one; they are delivered in order. Default: 0. The first page, which has
	// the number of pages, is requested alone: n pages take the time of 1 + ceil((n-1) / (Prefetch+1)) requests, and up to Prefetch pages wait
	// in memory. A list without that number is read one page at a time. Leaving the loop early wastes up to Prefetch requests of the rate
	// limit. A page that you do not wait for yet is requested in [ratelimit.Bulk]. The ...Page methods ignore Prefetch.
	Prefetch int
}

// Page is one page of a result.
type Page[T any] struct {
	Items      []T // the page's items
	Number     int // the page's number, from 1
	Size       int // the page size that the service applied; 0 if not reported
	TotalPages int // the number of pages; 0 if not reported
	TotalItems int // the number of items on all pages; 0 if not reported

	reported bool // the response had X-TotalPages
	counted  bool // the response had X-TotalItems
	bare     bool // one object instead of a list
	received int  // number of items before filtering
	skew     time.Duration
}

// Last reports whether this page is the last or, without TotalPages, empty.
func (p *Page[T]) Last() bool {
	if p.reported || p.TotalPages > 0 {
		return p.Number >= p.TotalPages
	}
	return p.received == 0 && len(p.Items) == 0
}

func (p Page[T]) Format(f fmt.State, verb rune) { redact.Format(f, verb, p) }

// LogValue logs the counts: a JSON log would write the items unredacted.
func (p Page[T]) LogValue() slog.Value {
	return slog.GroupValue(slog.Int("number", p.Number), slog.Int("items", len(p.Items)),
		slog.Int("total_pages", p.TotalPages), slog.Int("total_items", p.TotalItems))
}

// IncompleteListError means that a list ended early, or that a page had only items of earlier pages. The items seen precede the error. A
// search over such a list proves nothing. The error may be harmless if items leave the list while it is read (accounts by status,
// undeliverable messages): another item then moves to a page already read.
type IncompleteListError struct {
	Seen  int // the number of distinct items that the service returned, from Paging.Page on
	Total int // the expected number, from Paging.Page on; 0 if the service reported pages but no number of items

	cause error
}

// Unwrap returns the cause, such as the *[APIError] of a refused page, or nil.
func (e *IncompleteListError) Unwrap() error { return e.cause }

func (e *IncompleteListError) Error() string {
	switch {
	case errors.Is(e.cause, pages.ErrRepeated):
		return fmt.Sprintf("prepaid: list incomplete: %d items seen, and a page repeats earlier ones", e.Seen)
	case e.Total == 0:
		return fmt.Sprintf("prepaid: list incomplete: %d items seen, and a page is missing", e.Seen)
	}
	return fmt.Sprintf("prepaid: list incomplete: %d of %d items seen", e.Seen, e.Total)
}

// Collect reads at most limit items into a slice. With an error it returns the items so far. If there are more, the error is [ErrTooMany],
// of unknown outcome. Never collect the rows of a report: they share a slice.
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

// pageList describes a list that is read in pages.
type pageList[T any] struct {
	request request
	paging  Paging
	// identity distinguishes the items of the list.
	identity func(*T) string
	// leaves: items may leave the list while it is read, so an expected page may legitimately be gone.
	leaves bool
	// keep filters the items; nil keeps all. Dropped items still count as seen.
	keep func(*T) bool
	// opened receives the first page before its items are delivered; false ends the iteration. May be nil.
	opened func(*Page[T]) bool
}

// page reads the page Paging.Page.
func (l pageList[T]) page(ctx context.Context, c *core) (*Page[T], error) {
	page, err := l.fetch(ctx, c, l.paging.Page, nil)
	if err == nil && l.keep != nil {
		page.Items = slices.DeleteFunc(page.Items, func(item T) bool { return !l.keep(&item) })
	}
	return page, err
}

// all iterates over the items of all pages from Paging.Page on, as package internal/pages promises.
func (l pageList[T]) all(ctx context.Context, c *core) iter.Seq2[*T, error] {
	return func(yield func(*T, error) bool) {
		if err := l.deliver(ctx, c, func(item *T) bool { return yield(item, nil) }); err != nil {
			yield(nil, err)
		}
	}
}

// deliver passes the items to yield until it returns false. It returns an error if the list ends otherwise and is incomplete.
func (l pageList[T]) deliver(ctx context.Context, c *core, yield func(*T) bool) error {
	start := max(l.paging.Page, 1)
	read := pages.NewProgress(start, l.leaves)
	for page, err := range l.from(ctx, c, start) {
		switch {
		case err != nil && read.Started() && isEndOfList(err):
			return l.incomplete(read.Refused(), err)
		case err != nil:
			return err
		case l.opened != nil && !read.Started() && !l.opened(page):
			return nil
		}
		read.Begin(page.head())
		for i := range page.Items {
			item := &page.Items[i]
			if read.IsNew(l.identity(item)) && (l.keep == nil || l.keep(item)) && !yield(item) {
				return nil
			}
		}
		if last, err := read.End(); last || err != nil {
			return l.incomplete(err, nil)
		}
	}
	return nil
}

// from iterates over the pages from start on.
func (l pageList[T]) from(ctx context.Context, c *core, start int) iter.Seq2[*Page[T], error] {
	fetch := func(ctx context.Context, number int, awaited <-chan struct{}) (*Page[T], error) {
		return l.fetch(ctx, c, number, awaited)
	}
	if l.paging.Prefetch <= 0 || len(l.request.faults) > 0 {
		return pages.Sequential(ctx, start, fetch)
	}
	guarded := func(ctx context.Context, number int, awaited <-chan struct{}) (page *Page[T], err error) {
		if unsafe := guard.Call(func() { page, err = fetch(ctx, number, awaited) }); unsafe != nil { // of the caller's code
			return nil, l.failed(unsafe)
		}
		return page, err
	}
	return pages.Prefetched(ctx, start, l.paging.Prefetch, guarded, (*Page[T]).head)
}

// isEndOfList reports whether the service may have refused a page number beyond the last.
func isEndOfList(err error) bool {
	refusal, ok := errors.AsType[*APIError](err)
	return ok && refusal.StatusCode == http.StatusBadRequest && refusal.Code != "" && refusal.Code != CodeInvalidHookID
}

// incomplete returns the error of a list that ends for the reason why, or nil. refusal is the refusal of a page after the last, if any.
func (l pageList[T]) incomplete(why, refusal error) error {
	if why == nil {
		return nil
	}
	list, ok := errors.AsType[*pages.Incomplete](why)
	if !ok {
		return l.failed(why)
	}
	failure := &IncompleteListError{Seen: list.Seen, Total: list.Total, cause: list.Err}
	if api, ok := errors.AsType[*APIError](refusal); ok {
		failure.cause = api
	}
	return l.failed(failure)
}

func (l pageList[T]) failed(err error) error {
	return &CallError{Operation: l.request.op.Name, Outcome: OutcomeNotProcessed, AccountID: l.request.account, Err: err}
}

func (p *Page[T]) head() pages.Head {
	return pages.Head{
		Number: p.Number, Size: p.Size, Pages: p.TotalPages, Items: p.TotalItems, Received: p.received,
		Reported: p.reported, Counted: p.counted, Bare: p.bare,
	}
}

// fetch reads one page. 204 means an empty page.
func (l pageList[T]) fetch(ctx context.Context, c *core, number int, awaited <-chan struct{}) (*Page[T], error) {
	page := &Page[T]{Number: max(number, 1)}
	r := l.request
	r.awaited = awaited
	r.query = append(make(query, 0, len(r.query)+2), r.query...).
		With("page_number", strconv.Itoa(page.Number)).
		With("page_size", strconv.Itoa(cmp.Or(l.paging.Size, defaultPageSize)))
	if err := c.do(ctx, &r, page.decode); err != nil {
		return nil, err
	}
	return page, nil
}

func (p *Page[T]) decode(a *response) error {
	if err := p.readHeader(a); err != nil {
		return a.undecodable(err)
	}
	if a.status == http.StatusNoContent {
		return nil
	}
	body := bytes.TrimSpace(a.body)
	if p.bare = len(body) > 0 && body[0] == '{'; p.bare { // company search: a single account may arrive without a list
		p.Items = make([]T, 1)
		if err := decodeJSON(a, &p.Items[0]); err != nil {
			return err
		}
	} else if err := decodeItems(a, &p.Items); err != nil {
		return err
	}
	if p.received = len(p.Items); p.TotalPages > 1 && p.counted && p.received > 0 && p.TotalItems < p.TotalPages-1+p.received {
		return a.undecodable(errPageCounts) // each other page has an item too
	}
	return nil
}

var (
	errPageHeader = errors.New("a paging header is not a whole number")
	errPageCounts = errors.New("X-TotalItems is less than the pages hold")
)

// readHeader reads the three paging headers, which may be absent, and the service's clock.
func (p *Page[T]) readHeader(a *response) error {
	var malformed error
	number := func(name string) (int, bool) {
		text := a.received.Header.Get(name)
		n, err := strconv.Atoi(text)
		if text != "" && (err != nil || n < 0) {
			malformed, n = errPageHeader, 0
		}
		return n, text != ""
	}
	p.Size, _ = number("X-PageSize")
	malformed = nil // the size decides nothing
	p.TotalItems, p.counted = number("X-TotalItems")
	p.TotalPages, p.reported = number("X-TotalPages")
	if date, err := http.ParseTime(a.received.Header.Get("Date")); err == nil {
		p.skew = skew(date, a.started.Add(time.Since(a.started)/2))
	}
	return malformed
}

func (v *validator) paging(p Paging) {
	v.limit("paging.page", int64(p.Page))
	v.limit("paging.size", int64(p.Size))
	v.limit("paging.prefetch", int64(p.Prefetch))
}

// skew returns the service's clock, reported in whole seconds, minus the local clock; 0 if they agree to a second.
func skew(service, local time.Time) time.Duration {
	difference := service.Sub(local.Truncate(time.Second))
	if difference.Abs() <= time.Second {
		return 0
	}
	return difference
}
