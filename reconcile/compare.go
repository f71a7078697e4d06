package reconcile

import (
	"context"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
)

// comparison is the state of one account.
type comparison struct {
	*work
	*span

	account    string
	rows       *sorter // rows without an item of the same ID, and explained rows, see record.explained
	items      *sorter // items without a row of the same ID
	reportFrom int64   // an earlier run reported the items before this time
	open       int64   // the next run decides again about the items from this time on
}

// compare consumes and compares the rows and items of one account.
func (w *work) compare(ctx context.Context, id prepaid.AccountID, rows, items *cursor) error {
	c := &comparison{
		work: w, span: w.spans[id], account: string(id), rows: w.sorter(byAmount), items: w.sorter(byAmount), open: w.completeTo,
	}
	c.reportFrom = c.since - w.Overlap.Microseconds()
	defer c.rows.close()
	defer c.items.close()
	if err := c.matchIDs(ctx, rows, items); err != nil {
		return err
	}
	if err := c.matchAmounts(ctx); err != nil {
		return err
	}
	if c.open < w.completeTo {
		if w.checkpoint.Open == nil {
			w.checkpoint.Open = map[prepaid.AccountID]time.Time{}
		}
		w.checkpoint.Open[id] = time.UnixMicro(c.open).UTC()
	}
	w.progress.Done++
	w.notify()
	return nil
}

// period returns the first and last time at which the item of a row can have occurred, in microseconds of the service's clock.
func (w *work) period(row *record) (low, high int64) {
	to := row.to
	if row.expected == ExpectedInProgress {
		to = max(to, w.began.UnixMicro())
	}
	return row.from - w.Clocks.Microseconds(), to + max(w.Late, w.Clocks).Microseconds()
}

// stuck reports whether a row has been in progress for so long that waiting for its outcome would hide differences.
func (w *work) stuck(row *record) bool {
	return row.expected == ExpectedInProgress && row.to < w.began.AddDate(0, 0, -1).UnixMicro()
}

// undecided reports whether this run must decide about a row: no earlier run did, and the history was read for the row's complete period, or
// no report has this period.
func (c *comparison) undecided(row *record) bool {
	low, high := c.period(row)
	return high > c.since && (low >= c.from || c.since > unbounded && high-max(c.Late, c.Clocks).Microseconds() > c.from)
}

func (c *comparison) recent(row *record) bool {
	low, high := c.period(row)
	if c.stuck(row) {
		high = low
	}
	return high > c.completeTo
}

// matchIDs joins rows and items by transaction ID. It leaves the rest, and the rows that are explained, to matchAmounts.
func (c *comparison) matchIDs(ctx context.Context, rows, items *cursor) error {
	for {
		row, item := c.of(rows), c.of(items)
		if row == nil && item == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		first := row
		if row == nil || item != nil && item.id < row.id {
			first = item
		}
		if id := first.id; id != "" {
			if err := c.matchID(id, rows, items); err != nil {
				return err
			}
			continue
		}
		from, to := rows, c.rows
		if first == item {
			from, to = items, c.items
		}
		if err := to.add(first); err != nil {
			return err
		}
		if err := from.advance(); err != nil {
			return err
		}
	}
}

// of returns the current record if it belongs to the account, else nil.
func (c *comparison) of(records *cursor) *record {
	if head := records.head(); head != nil && head.account == c.account {
		return head
	}
	return nil
}

// matchID decides about the rows and items of one transaction ID.
func (c *comparison) matchID(id string, rows, items *cursor) error {
	var g group
	for _, side := range []struct {
		from *cursor
		to   *[]record
	}{{rows, &g.rows}, {items, &g.items}} {
		for next := c.of(side.from); next != nil && next.id == id; next = c.of(side.from) {
			*side.to = append(*side.to, *next)
			if err := c.flush(&g, KindTwice); err != nil {
				return err
			}
			if err := side.from.advance(); err != nil {
				return err
			}
		}
	}
	switch {
	case g.divided || len(g.rows) > 1 || len(g.items) > 1:
		return c.report(KindTwice, &g)
	case len(g.items) == 0:
		row := &g.rows[0]
		low, _ := c.period(row)
		row.explained = !c.undecided(row) && low < c.from // its item occurred before From
		return c.rows.add(row)
	case len(g.rows) == 0:
		return c.items.add(&g.items[0])
	}
	row := &g.rows[0]
	switch {
	case row.amount.Compare(g.items[0].amount) != 0:
		return c.report(KindAmountDiffers, &g)
	case row.expected == ExpectedNotPaid:
		return c.report(KindServiceOnly, &g)
	}
	row.explained = true
	if err := c.rows.add(row); err != nil {
		return err
	}
	return c.report(KindMatched, &g)
}

// matchAmounts matches the remaining rows and items by amount and time.
func (c *comparison) matchAmounts(ctx context.Context) error {
	rows, err := c.rows.sorted()
	if err != nil {
		return err
	}
	items, err := c.items.sorted()
	if err != nil {
		return err
	}
	for {
		row, item := rows.head(), items.head()
		if row == nil && item == nil {
			return nil
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		first := row
		if row == nil || item != nil && item.amount.Compare(row.amount) < 0 {
			first = item
		}
		s := sweep{comparison: c, amount: first.amount}
		if err := s.all(rows, items); err != nil {
			return err
		}
	}
}

// sweep goes through the rows and items of one amount in the order of time. A row and an item are candidates for each other if
// the period of the row includes the item. The group has the rows and items that are connected in this way.
type sweep struct {
	*comparison

	amount      prepaid.Amount
	group       group
	reach       int64  // the latest end of a period in group
	explained   record // the explained row with the latest end of its period
	explainedTo int64
}

func (s *sweep) all(rows, items *cursor) error {
	s.reach, s.explainedTo = unbounded, unbounded
	for item := s.of(items); item != nil; item = s.of(items) {
		if item.from > s.reach {
			if err := s.close(); err != nil {
				return err
			}
		}
		if err := s.begin(rows, item.from); err != nil {
			return err
		}
		if err := s.item(item); err != nil {
			return err
		}
		if err := items.advance(); err != nil {
			return err
		}
	}
	if err := s.close(); err != nil {
		return err
	}
	for row := s.of(rows); row != nil; row = s.of(rows) {
		if err := s.missing(row); err != nil {
			return err
		}
		if err := rows.advance(); err != nil {
			return err
		}
	}
	return nil
}

// of returns the current record if it has the amount, else nil.
func (s *sweep) of(records *cursor) *record {
	if head := records.head(); head != nil && head.amount.Compare(s.amount) == 0 {
		return head
	}
	return nil
}

// begin takes all rows whose periods begin before or at the time of the next item.
func (s *sweep) begin(rows *cursor, at int64) error {
	for row := s.of(rows); row != nil; row = s.of(rows) {
		low, high := s.period(row)
		if low > at {
			return nil
		}
		var err error
		switch {
		case row.explained:
			if high > s.explainedTo {
				s.explained, s.explainedTo = *row, high
			}
		case high < at:
			err = s.missing(row)
		default:
			s.reach = max(s.reach, high)
			s.group.rows = append(s.group.rows, *row)
			s.group.recent = s.group.recent || s.recent(row)
			s.group.stuck = s.group.stuck || s.stuck(row)
			err = s.flush(&s.group, s.group.unclear())
		}
		if err != nil {
			return err
		}
		if err := rows.advance(); err != nil {
			return err
		}
	}
	return nil
}

// item adds an item to the group, or reports it if no row of the group may be its row.
func (s *sweep) item(item *record) error {
	if s.reach >= item.from {
		if s.Report != nil && item.from < s.completeTo-s.Overlap.Microseconds() { // the next report may not have it
			s.group.unread = true
		}
		s.group.items = append(s.group.items, *item)
		return s.flush(&s.group, s.group.unclear())
	}
	g := group{items: []record{*item}}
	switch {
	case item.from > s.completeTo:
		return s.report(KindTooEarly, &g)
	case s.explainedTo >= item.from:
		g.rows = []record{s.explained}
		return s.report(KindTwice, &g)
	}
	return s.report(KindServiceOnly, &g)
}

// missing reports a row for which there is no candidate.
func (s *sweep) missing(row *record) error {
	if row.explained {
		return nil
	}
	kind := KindBooksOnly
	switch {
	case s.recent(row):
		kind = KindTooEarly
	case row.expected == ExpectedNotPaid:
		kind = KindMatched
	}
	return s.report(kind, &group{rows: []record{*row}})
}

// close reports the group.
func (s *sweep) close() error {
	g := s.group
	s.group, s.reach = group{}, unbounded
	if len(g.rows) == 0 && len(g.items) == 0 {
		return nil
	}
	kind := g.unclear()
	if !g.divided && !g.recent && !g.stuck && len(g.rows) == 1 && len(g.items) == 1 {
		row := &g.rows[0]
		low, _ := s.period(row)
		if row.id == "" && row.expected != ExpectedNotPaid && low >= s.from { // else an equal item may have occurred before From
			g.byAmount, kind = true, KindMatched
		}
	}
	return s.report(kind, &g)
}

// group has rows and items that belong together or may belong together.
type group struct {
	rows, items []record
	byAmount    bool
	recent      bool // it is too early to decide about a row
	stuck       bool // a row has been in progress for too long
	unread      bool // the next report may not have an item
	divided     bool // a part was reported
}

// unclear is the kind of a group whose rows or items have several candidates.
func (g *group) unclear() Kind {
	if g.recent && !g.stuck && !g.unread {
		return KindTooEarly
	}
	return KindAmbiguous
}

// mostInGroup bounds the memory of a group.
const mostInGroup = 1000

// flush reports a part of a large group.
func (c *comparison) flush(g *group, kind Kind) error {
	if len(g.rows)+len(g.items) < mostInGroup {
		return nil
	}
	err := c.report(kind, g)
	g.rows, g.items, g.divided = g.rows[:0], g.items[:0], true
	return err
}

// report yields a finding, unless earlier runs have reported all of its rows and items.
func (c *comparison) report(kind Kind, g *group) error {
	if !slices.ContainsFunc(g.items, func(item record) bool { return item.from >= c.reportFrom }) &&
		!slices.ContainsFunc(g.rows, func(row record) bool { return c.undecided(&row) }) {
		return nil
	}
	if kind == KindTooEarly || g.stuck { // the next run decides again, also about the rows that are not recent
		for i := range g.items {
			c.open = min(c.open, g.items[i].from-1)
		}
	}
	f := Finding{
		Kind: kind, AccountID: prepaid.AccountID(c.account), ByAmount: g.byAmount, CompleteTo: time.UnixMicro(c.completeTo).UTC(),
	}
	if c.from > unbounded {
		f.From = time.UnixMicro(c.from).UTC()
	}
	for i := range g.rows {
		f.Rows = append(f.Rows, g.rows[i].row())
	}
	for i := range g.items {
		f.Items = append(f.Items, g.items[i].item())
	}
	if !c.yield(f, nil) {
		return errLeft
	}
	return nil
}
