package reconcile

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/guard"
)

// Histories reads the history of an account, as *[prepaid.AccountsService] does: the history is complete, or ends with an error.
type Histories interface {
	// Transactions iterates over the history of an account.
	Transactions(ctx context.Context, id prepaid.AccountID, params prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

// Run compares books with the service. Set Books, and either Histories or Report with its period.
type Run struct {
	// Books are all rows of the accounts, in any order. Include rows from before Since: they explain items that are read again.
	// An error ends the run. Write a row before its payment is sent, as a journal does; else only the service may have the payment.
	Books iter.Seq2[Row, error]
	// BooksAsOf is the time of the books. Zero means the time of the run; set it if the books are an older export.
	BooksAsOf time.Time

	// Histories is the Accounts service of a client.
	Histories Histories
	// Accounts are read in addition to the accounts with rows.
	Accounts []prepaid.AccountID
	// Ignore returns true for transactions to drop because they are not in the books, for example purchases. Nil drops none. If it panics,
	// the account fails.
	Ignore func(*prepaid.Transaction) bool
	// Paging sets Size and Prefetch for the histories. Zero means 100 items and 2 pages ahead.
	Paging prepaid.Paging
	// Concurrency is how many histories are read at a time. Zero means 4.
	Concurrency int

	// Report are the rows of a settlement report as items in any order, for example from [prepaid.ReportReader.Rows]. An
	// error ends the run. The template of the report defines its columns.
	Report iter.Seq2[Item, error]
	// ReportFrom is the start of the period of Report. A row that begins less than [Run].Clocks after ReportFrom never matches by
	// amount. Without an item it is only reported if it lasts longer and Since is set: then no report has its period, so look for its item
	// in the earlier reports. Let the reports of successive runs overlap by [Run].Overlap.
	ReportFrom time.Time
	// ReportTo is the end of the period of Report.
	ReportTo time.Time

	// Since is the checkpoint of the last run.
	Since Checkpoint
	// Overlap is the time before Since for which items are read again, because some items appear late. Zero means 1 h.
	Overlap time.Duration
	// Late is how long after a row's period its item may be booked, and how long after that it may become visible. Zero means 10 min.
	Late time.Duration
	// Clocks is how much the service's clock may differ from yours. Zero means 2 min.
	Clocks time.Duration

	// Directory is where Findings creates its temporary files. Empty means the system's default.
	Directory string
	// OnProgress, if not nil, is called after the books were read, and after each account.
	OnProgress func(Progress)

	inMemory   int // records that a sorter keeps in memory; zero means inMemory
	checkpoint Checkpoint
	complete   bool
}

// Checkpoint returns the checkpoint of a complete loop over Findings, for Since of the next run. It returns false if an error
// ended the loop, or if you left the loop early.
func (r *Run) Checkpoint() (Checkpoint, bool) { return r.checkpoint, r.complete }

// Findings iterates over the findings, by account in the order of IDs. A *[AccountError] is for one account, and the
// loop goes on; any other error ends the loop, and the findings are then not complete. Use one loop at a time.
//
// Errors: [AccountError]; [ErrRun], [ErrRow]; those of Books, Report, the context and the disk.
func (r *Run) Findings(ctx context.Context) iter.Seq2[Finding, error] {
	return func(yield func(Finding, error) bool) {
		r.checkpoint, r.complete = Checkpoint{}, false
		w := work{Run: *r, yield: yield, began: time.Now(), passed: r.Since.To, spans: map[prepaid.AccountID]*span{}}
		switch err := w.all(ctx); {
		case err == nil:
			if w.passed.Before(w.checkpoint.To) { // this machine's clock may be ahead
				w.checkpoint.To = w.passed
			}
			r.checkpoint, r.complete = w.checkpoint, true
		case !errors.Is(err, errLeft):
			yield(Finding{}, err)
		}
	}
}

// errLeft: the caller left the loop.
var errLeft = errors.New("reconcile: loop left")

// work is the state of a run. Unset settings have been replaced by their defaults.
type work struct {
	Run

	yield      func(Finding, error) bool
	began      time.Time
	completeTo int64     // in microseconds
	passed     time.Time // the newest item proves that the histories are complete up to this time
	spans      map[prepaid.AccountID]*span
	progress   Progress
}

// span is the period of an account, in microseconds.
type span struct {
	since int64 // earlier runs have decided up to this time
	from  int64 // the history is read from this time on
}

// unbounded is the start of a complete history.
const unbounded = -1 << 62

func (w *work) all(ctx context.Context) (err error) {
	if err := w.setDefaults(); err != nil {
		return err
	}
	books, items := w.sorter(byID), w.sorter(byID)
	defer books.close()
	defer items.close()
	if err := w.readBooks(ctx, books); err != nil {
		return err
	}
	var rows, reported *cursor
	if rows, err = books.sorted(); err != nil {
		return err
	}
	if w.Report != nil {
		if err := w.readReport(ctx, items); err != nil {
			return err
		}
		if reported, err = items.sorted(); err != nil {
			return err
		}
	}
	w.progress.Accounts = len(w.spans)
	w.notify()
	ids := slices.Sorted(maps.Keys(w.spans))
	if reported == nil {
		return w.compareHistories(ctx, ids, rows)
	}
	for _, id := range ids {
		if err := w.compare(ctx, id, rows, reported); err != nil {
			return err
		}
	}
	return nil
}

// pass takes the time of an item, by the service's clock.
func (w *work) pass(newest time.Time) {
	now := time.Now()
	elapsed := max(now.Sub(w.began), now.Round(0).Sub(w.began)) // the clock may have been set back, or the machine may have been suspended
	if to := newest.Add(-w.Late - w.Clocks - elapsed); to.After(w.passed) {
		w.passed = to
	}
}

// setDefaults checks the settings and completes them.
func (w *work) setDefaults() error {
	for _, setting := range []time.Duration{w.Overlap, w.Late, w.Clocks, time.Duration(w.Concurrency)} {
		if setting < 0 {
			return ErrRun
		}
	}
	noPeriod := w.ReportFrom.IsZero() || w.ReportTo.Before(w.ReportFrom)
	if w.Books == nil || (w.Histories == nil) == (w.Report == nil) || w.Report != nil && noPeriod {
		return ErrRun
	}
	w.Overlap, w.Late, w.Clocks = cmp.Or(w.Overlap, time.Hour), cmp.Or(w.Late, 10*time.Minute), cmp.Or(w.Clocks, 2*time.Minute)
	w.Concurrency, w.Paging.Prefetch = cmp.Or(w.Concurrency, 4), cmp.Or(w.Paging.Prefetch, 2)
	// Items that occurred no later than this time, on the service's clock, are visible, and their rows are in the books.
	to := w.began.UTC().Add(-w.Late - w.Clocks)
	if books := w.BooksAsOf.Add(-w.Clocks); !w.BooksAsOf.IsZero() && books.Before(to) {
		to = books
	}
	if w.Report != nil && w.ReportTo.Before(to) {
		to = w.ReportTo
	}
	w.checkpoint.To, w.completeTo = to, to.UnixMicro()
	return nil
}

func (w *work) sorter(compare func(a, b *record) int) *sorter {
	return &sorter{directory: w.Directory, compare: compare, most: cmp.Or(w.inMemory, inMemory)}
}

// span returns the span of an account, and adds a new span if there is none.
func (w *work) span(id prepaid.AccountID) *span {
	if s, known := w.spans[id]; known {
		return s
	}
	s := &span{since: unbounded, from: unbounded}
	if since := w.sinceOf(id); !since.IsZero() {
		s.since, s.from = since.UnixMicro(), since.Add(-w.Overlap).UnixMicro()
	}
	if w.Report != nil {
		s.from = w.ReportFrom.UnixMicro()
	}
	w.spans[id] = s
	return s
}

// sinceOf returns the time up to which earlier runs have decided about an account.
func (w *work) sinceOf(id prepaid.AccountID) time.Time {
	if since, failed := w.Since.Failed[id]; failed {
		return since
	}
	if since, open := w.Since.Open[id]; open && since.Before(w.Since.To) {
		return since
	}
	return w.Since.To
}

// readBooks sorts the rows. The history of an account is read for the complete periods of all rows that are undecided or that items which
// are read again may belong to.
func (w *work) readBooks(ctx context.Context, books *sorter) error {
	waiting := slices.AppendSeq(slices.Collect(maps.Keys(w.Since.Open)), maps.Keys(w.Since.Failed))
	for _, id := range slices.Concat(w.Accounts, waiting) {
		w.span(id)
	}
	for row, err := range w.Books {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		if row.To.IsZero() {
			row.To = row.From
		}
		if row.AccountID == "" || row.From.IsZero() || row.To.Before(row.From) {
			return ErrRow
		}
		entry := recordOfRow(&row)
		s := w.span(row.AccountID)
		if low, high := w.period(&entry); high >= s.since-w.Overlap.Microseconds() && w.Report == nil {
			s.from = min(s.from, low)
		}
		if err := books.add(&entry); err != nil {
			return err
		}
		w.progress.Rows++
	}
	return nil
}

func (w *work) readReport(ctx context.Context, items *sorter) error {
	for item, err := range w.Report {
		if err = cmp.Or(err, ctx.Err()); err != nil {
			return err
		}
		entry := recordOfItem(&item)
		if err := items.add(&entry); err != nil {
			return err
		}
		w.pass(item.OccurredAt)
		w.span(item.AccountID)
		w.progress.Items++
	}
	return nil
}

// reading is a history that is being read.
type reading struct {
	account prepaid.AccountID
	items   *sorter
	sorted  *cursor
	count   int
	newest  time.Time
	err     error // of the history
	disk    error
	done    chan struct{}
}

// compareHistories compares all accounts in order, and reads the histories of the next accounts meanwhile.
func (w *work) compareHistories(ctx context.Context, ids []prepaid.AccountID, rows *cursor) error {
	ctx, cancel := context.WithCancel(ctx)
	var waiting []*reading
	defer func() {
		cancel()
		for _, one := range waiting {
			<-one.done
			one.items.close()
		}
	}()
	next := 0
	for _, id := range ids {
		for ; next < len(ids) && len(waiting) < w.Concurrency; next++ {
			waiting = append(waiting, w.begin(ctx, ids[next]))
		}
		one := waiting[0]
		<-one.done
		w.progress.Items += one.count
		w.pass(one.newest)
		var err error
		switch {
		case cmp.Or(ctx.Err(), one.disk) != nil:
			return cmp.Or(ctx.Err(), one.disk)
		case one.err != nil:
			err = w.failed(one, rows)
		default:
			err = w.compare(ctx, id, rows, one.sorted)
		}
		if err != nil {
			return err
		}
		one.items.close()
		waiting = waiting[1:]
	}
	return nil
}

// failed reports a history that could not be read, and skips its rows.
func (w *work) failed(one *reading, rows *cursor) error {
	if w.checkpoint.Failed == nil {
		w.checkpoint.Failed = map[prepaid.AccountID]time.Time{}
	}
	w.checkpoint.Failed[one.account] = w.sinceOf(one.account)
	if !w.yield(Finding{}, &AccountError{AccountID: one.account, Err: one.err}) {
		return errLeft
	}
	w.progress.Done++
	w.notify()
	return rows.skip(string(one.account))
}

// begin starts to read and sort a history.
func (w *work) begin(ctx context.Context, id prepaid.AccountID) *reading {
	one := &reading{account: id, items: w.sorter(byID), done: make(chan struct{})}
	params := prepaid.ListTransactionsParams{Paging: w.Paging} // without an end: the service's clock may be ahead
	if from := w.spans[id].from; from > unbounded {
		params.From = time.UnixMicro(from).UTC().Truncate(time.Second)
	}
	go func() {
		defer close(one.done)
		if unsafe := guard.Call(func() { w.read(ctx, one, params) }); unsafe != nil {
			one.err = fmt.Errorf("reconcile: Histories or Ignore: %w", unsafe)
		}
		if cmp.Or(one.err, one.disk) == nil {
			one.sorted, one.disk = one.items.sorted()
		}
	}()
	return one
}

func (w *work) read(ctx context.Context, one *reading, params prepaid.ListTransactionsParams) {
	for t, err := range w.Histories.Transactions(ctx, one.account, params) {
		if err != nil {
			one.err = err
			return
		}
		if t.OccurredAt.After(one.newest) {
			one.newest = t.OccurredAt
		}
		if w.Ignore != nil && w.Ignore(t) {
			continue
		}
		item := recordOfItem(&Item{t.ID, one.account, t.Type, t.Amount, t.OccurredAt})
		if one.disk = one.items.add(&item); one.disk != nil {
			return
		}
		one.count++
	}
}

func (w *work) notify() {
	if w.OnProgress != nil {
		w.OnProgress(w.progress)
	}
}
