package main

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const (
	proofPage = 500 // transactions; the service may apply another
	// proofMargin is more than the difference between the clocks of any two machines: a history is read from that long
	// before the journal began. It only costs pages.
	proofMargin = 24 * time.Hour
)

// historian is what the proof needs to read histories.
type historian interface {
	Transactions(context.Context, prepaid.AccountID, prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

// expectation is how the float account's history shows a payment that was made as in the row.
type expectation struct {
	amount prepaid.Amount
	named  uint64 // hash of the start of the source reference, which contains run and key
}

// proof is what is still to be found in the histories.
type proof struct {
	open    map[uint64]expectation           // by the hash of the source reference, which contains run, key, account and amount
	rows    map[prepaid.TransactionID]uint64 // the same hash by the reported ID; 0 for an ID that was reported twice
	another map[uint64]string                // rows for which the history shows another payment, and which
	began   time.Time                        // when the first of them began

	mu    sync.Mutex // workers claim concurrently
	taken map[claim]bool
}

// claim is an item of an account's history that was matched with one payment, and so matches no other.
type claim struct {
	account prepaid.AccountID
	item    prepaid.TransactionID
}

// prove searches for each payment that the service reported as made. For a known request ID the service returns the
// cached response, whatever the params are: if the journal is new, lost or swapped, an earlier payment with another
// amount or payee would be taken for this one. The source reference of a payment contains both, so the history of the
// float account shows which one it was, whatever the clocks and the IDs are. If that history does not have the
// reference, the payee's account may. What is found nowhere is marked: that proves nothing.
func (p *payer) prove(ctx context.Context, history historian) error {
	due, err := p.reportedPaid()
	if err != nil || len(due.open) == 0 {
		return err
	}
	recent := due.began.Add(-proofMargin)
	for look := range 2 { // a history may be late
		if look > 0 && !sleep(ctx, p.booking) {
			return ctx.Err()
		}
		if err := p.readFloat(ctx, history, due, prepaid.ListTransactionsParams{From: recent}); err != nil || len(due.open) == 0 {
			return err
		}
	}
	// A payment made before its journal was lost is older, but no payment of this run is older than its ID may be.
	earlier := prepaid.ListTransactionsParams{From: p.job.date.Add(-dayEarliest - proofMargin), Before: recent}
	if earlier.From.Before(recent) {
		if err := p.readFloat(ctx, history, due, earlier); err != nil || len(due.open) == 0 {
			return err
		}
	}
	return p.askPayees(ctx, history, due)
}

// reportedPaid returns what must be proven.
func (p *payer) reportedPaid() (*proof, error) {
	due := &proof{
		open: make(map[uint64]expectation), rows: make(map[prepaid.TransactionID]uint64),
		another: make(map[uint64]string), taken: make(map[claim]bool),
	}
	for row, err := range p.list.payments() {
		if err != nil {
			return nil, err
		}
		e, paid := p.entryPaid(row)
		if !paid {
			continue
		}
		reference := p.job.sourceReference(row)
		named, _ := p.job.ownReference(reference)
		hash := p.list.hash(reference)
		due.open[hash] = expectation{amount: row.amount, named: p.list.hash(named)}
		if _, twice := due.rows[e.TransactionID]; twice { // it is one payment, and cannot show which of the two
			hash = 0
		}
		due.rows[e.TransactionID] = hash
		if due.began.IsZero() || e.Began.Before(due.began) {
			due.began = e.Began
		}
	}
	return due, nil
}

// entryPaid returns the entry of a row that the service reported as paid. What a person has resolved is final.
func (p *payer) entryPaid(row payment) (journal.Entry, bool) {
	e, known := p.journal.Get(p.job.requestID(row))
	return e, known && e.State == journal.StateDone && !e.Resolved
}

// readFloat reads the history of the float account and removes from due what it shows.
func (p *payer) readFloat(ctx context.Context, history historian, due *proof, window prepaid.ListTransactionsParams) error {
	window.Paging = prepaid.Paging{Size: proofPage, Prefetch: 1}
	for item, err := range history.Transactions(ctx, p.job.float, window) {
		if err != nil {
			return fmt.Errorf("the history of the float account: %w", err)
		}
		p.onRead()
		p.compare(due, item)
	}
	return p.reportAnother(due)
}

// compare checks whether an item of the float account's history is a due payment, or another one in its place. A
// reference that the service has truncated or rewritten shows neither.
func (p *payer) compare(due *proof, item *prepaid.Transaction) {
	reference := p.list.hash(item.Reference)
	if want, ok := due.open[reference]; ok && item.Amount.Abs() == want.amount {
		delete(due.open, reference)
		delete(due.another, reference) // its ID is not in this history
		return
	}
	row := due.rows[item.ID]
	want, ok := due.open[row]
	if !ok {
		return
	}
	named, own := p.job.ownReference(item.Reference)
	switch {
	case own && reference != row && p.list.hash(named) == want.named:
		due.another[row] = "an earlier payment under this key with another amount or account"
	case !own && item.Amount.Abs() != want.amount:
		due.another[row] = "which the history shows with another amount"
	}
}

// reportAnother marks the rows for which the service returned another payment.
func (p *payer) reportAnother(due *proof) error {
	if len(due.another) == 0 {
		return nil
	}
	for row := range due.another {
		delete(due.open, row)
	}
	for row, err := range p.list.payments() {
		if err != nil {
			return err
		}
		e, paid := p.entryPaid(row)
		shown, another := due.another[p.list.hash(p.job.sourceReference(row))]
		if paid && another && !p.isMarked(p.elsewhere, e.RequestID) {
			p.mark(p.elsewhere, e.RequestID)
			wrong := &rowError{line: row.line}
			wrong.add("", fmt.Sprintf("the service returned transaction %s, %s", e.TransactionID, shown))
			p.report(wrong)
		}
	}
	return nil
}

// askPayees searches for the open payments in the histories of the payees' accounts.
func (p *payer) askPayees(ctx context.Context, history historian, due *proof) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan payment)
	var workers sync.WaitGroup
	for range min(p.job.workers, len(due.open)) {
		workers.Go(func() {
			for row := range queue {
				if err := p.askPayee(ctx, history, due, row); err != nil {
					stop(err)
				}
			}
		})
	}
	feed := func() error {
		defer close(queue)
		for row, err := range p.list.payments() {
			if err != nil {
				return err
			}
			_, paid := p.entryPaid(row)
			if _, asked := due.open[p.list.hash(p.job.sourceReference(row))]; !paid || !asked {
				continue
			}
			select {
			case queue <- row:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	err := feed()
	workers.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	return err
}

// askPayee searches the history of the payee's account, and marks a row that it does not show. A payment is shown by
// the ID that was reported for it. If IDs do not match, an item with the same amount and reference counts, but for one
// row only, and not one from before this journal: an earlier run may have paid the same.
func (p *payer) askPayee(ctx context.Context, history historian, due *proof, row payment) error {
	e, _ := p.entryPaid(row)
	unique := due.rows[e.TransactionID] != 0
	window := prepaid.ListTransactionsParams{
		From: p.job.date.Add(-dayEarliest - proofMargin), Paging: prepaid.Paging{Size: proofPage},
	}
	var alike []claim
	for item, err := range history.Transactions(ctx, row.account, window) {
		if errors.Is(err, prepaid.ErrNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("line %d: the history of the account: %w", row.line, err)
		}
		p.onRead()
		if item.Amount != row.amount {
			continue // such as a fee
		}
		if unique && (item.ID == e.TransactionID || item.ParentID == e.TransactionID) {
			return nil
		}
		_, reported := due.rows[item.ID]
		if !reported && item.ParentID == "" && item.Reference == row.reference && !item.OccurredAt.Before(e.Began.Add(-proofMargin)) {
			alike = append(alike, claim{row.account, item.ID})
		}
	}
	if !due.take(alike) {
		p.mark(p.unseen, e.RequestID)
	}
	return nil
}

// take claims the first of several similar items that no other row has claimed, and reports whether there was one.
func (d *proof) take(alike []claim) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, c := range alike {
		if !d.taken[c] {
			d.taken[c] = true
			return true
		}
	}
	return false
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}
