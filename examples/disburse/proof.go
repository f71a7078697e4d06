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
	// proofMargin is more than the clocks of any two machines differ by: a history is read from so long before the journal
	// began. It only costs pages.
	proofMargin = 24 * time.Hour
)

// historian is what the proof reads with.
type historian interface {
	Transactions(context.Context, prepaid.AccountID, prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

// expectation is how the float account's history shows a payment that was made as the row says.
type expectation struct {
	amount    prepaid.Amount
	reference uint64 // hash of the source reference, which names account and amount
}

// prove looks for each payment that the service reported as made. The service returns the cached response for a request
// id that it knows, whatever is asked under it: with a journal that is new, lost or exchanged, an earlier payment would be
// taken for this one although it was of another amount or to somebody else. The source reference of a payment names both,
// so the history of the float account shows which one it was, whatever the clocks say. Where that history does not carry
// the reference, the account that was to be paid knows. What is seen nowhere is marked as such: it proves nothing.
func (p *payer) prove(ctx context.Context, history historian) error {
	open, began, err := p.reportedPaid()
	if err != nil || len(open) == 0 {
		return err
	}
	recent := began.Add(-proofMargin)
	for look := range 2 { // a history may be late
		if look > 0 && !sleep(ctx, p.booking) {
			return ctx.Err()
		}
		if err := p.readFloat(ctx, history, open, prepaid.ListTransactionsParams{From: recent}); err != nil || len(open) == 0 {
			return err
		}
	}
	// What was paid before its journal was lost is older, but no payment of this run is older than its id may be.
	earlier := prepaid.ListTransactionsParams{From: p.job.date.Add(-dayEarliest - proofMargin), Before: recent}
	if earlier.From.Before(recent) {
		if err := p.readFloat(ctx, history, open, earlier); err != nil || len(open) == 0 {
			return err
		}
	}
	return p.askPayees(ctx, history, open)
}

// reportedPaid returns what is to be proven, and when the first of it began.
func (p *payer) reportedPaid() (open map[prepaid.TransactionID]expectation, began time.Time, err error) {
	open = make(map[prepaid.TransactionID]expectation)
	for row, err := range p.list.payments() {
		if err != nil {
			return nil, began, err
		}
		e, paid := p.entryPaid(row)
		if !paid {
			continue
		}
		open[e.TransactionID] = expectation{amount: row.amount, reference: p.list.hash(p.job.params(row).SourceReference)}
		if began.IsZero() || e.Began.Before(began) {
			began = e.Began
		}
	}
	return open, began, nil
}

// entryPaid returns the entry of a row that the service reported as paid. What a person has resolved stands.
func (p *payer) entryPaid(row payment) (journal.Entry, bool) {
	e, known := p.journal.Get(p.job.requestID(row))
	return e, known && e.State == journal.StateDone && !e.Resolved
}

// readFloat goes through the history of the float account and takes out of open what it shows.
func (p *payer) readFloat(ctx context.Context, history historian, open map[prepaid.TransactionID]expectation, window prepaid.ListTransactionsParams) error {
	window.Paging = prepaid.Paging{Size: proofPage, Prefetch: 1}
	for item, err := range history.Transactions(ctx, p.job.float, window) {
		if err != nil {
			return fmt.Errorf("the history of the float account: %w", err)
		}
		p.onRead()
		want, asked := open[item.ID]
		switch {
		case !asked:
		case item.Amount.Abs() != want.amount || p.job.isOwnReference(item.Reference) && p.list.hash(item.Reference) != want.reference:
			p.another[item.ID] = true
			delete(open, item.ID)
		case p.list.hash(item.Reference) == want.reference:
			delete(open, item.ID)
		}
	}
	return p.reportAnother()
}

// reportAnother marks the rows for which the service returned another payment.
func (p *payer) reportAnother() error {
	if len(p.another) == 0 {
		return nil
	}
	for row, err := range p.list.payments() {
		if err != nil {
			return err
		}
		if e, paid := p.entryPaid(row); paid && p.another[e.TransactionID] && !p.isMarked(p.elsewhere, e.RequestID) {
			p.markAnother(row, e)
		}
	}
	return nil
}

func (p *payer) markAnother(row payment, e journal.Entry) {
	p.mark(p.elsewhere, e.RequestID)
	wrong := &rowError{line: row.line}
	wrong.add("", fmt.Sprintf("the service returned transaction %s, an earlier payment under this key of another amount or to another account", e.TransactionID))
	p.report(wrong)
}

// askPayees looks for the open payments in the histories of the accounts that were to be paid.
func (p *payer) askPayees(ctx context.Context, history historian, open map[prepaid.TransactionID]expectation) error {
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	queue := make(chan payment)
	var workers sync.WaitGroup
	for range min(p.job.workers, len(open)) {
		workers.Go(func() {
			for row := range queue {
				if err := p.askPayee(ctx, history, row); err != nil {
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
			e, paid := p.entryPaid(row)
			if _, asked := open[e.TransactionID]; !paid || !asked {
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

// askPayee looks into the history of the account that was to be paid. It marks a row of which that shows nothing, or
// another amount.
func (p *payer) askPayee(ctx context.Context, history historian, row payment) error {
	e, _ := p.entryPaid(row)
	window := prepaid.ListTransactionsParams{
		From: p.job.date.Add(-dayEarliest - proofMargin), Paging: prepaid.Paging{Size: proofPage},
	}
	for item, err := range history.Transactions(ctx, row.account, window) {
		if errors.Is(err, prepaid.ErrNotFound) {
			break
		}
		if err != nil {
			return fmt.Errorf("line %d: the history of the account: %w", row.line, err)
		}
		p.onRead()
		own := item.ID == e.TransactionID || item.ParentID == e.TransactionID
		switch {
		case item.Amount == row.amount && (own || item.ParentID == "" && item.Reference == row.reference):
			return nil
		case own:
			p.markAnother(row, e)
			return nil
		}
	}
	p.mark(p.unseen, e.RequestID)
	return nil
}

// sleep returns false when ctx ended first.
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
