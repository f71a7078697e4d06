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
	proofPage   = 500              // transactions; the service may apply another
	bookingTime = 10 * time.Minute // by which a history may be dated after this clock
)

// historian is what the proof reads with.
type historian interface {
	Transactions(context.Context, prepaid.AccountID, prepaid.ListTransactionsParams) iter.Seq2[*prepaid.Transaction, error]
}

// prove looks for each payment that was answered as made. The service answers a request id that it knows from its cache,
// whatever is asked under it: with a journal that is new, lost or exchanged an earlier payment would be taken for this
// one, though it was another amount or went to somebody else. What has left the float account with the same amount
// since this journal began is the payment, for the journal lets no other go under its key. Of the rest, which may have
// been made before the journal was lost, the account that was to be paid knows.
func (p *payer) prove(ctx context.Context, history historian) error {
	open := make(map[prepaid.TransactionID]prepaid.Amount)
	var since time.Time
	for row, err := range p.list.payments() {
		if err != nil {
			return err
		}
		if e, told := p.toldPaid(row); told {
			open[e.TransactionID] = row.amount
			if since.IsZero() || e.Began.Before(since) {
				since = e.Began
			}
		}
	}
	if len(open) == 0 {
		return nil
	}
	since = since.Add(p.clocks) // a payment before the journal must not look like one after
	for item, err := range history.Transactions(ctx, p.job.float, after(since)) {
		if err != nil {
			return fmt.Errorf("the history of the float account: %w", err)
		}
		if amount, asked := open[item.ID]; asked && amount == item.Amount.Abs() && !item.OccurredAt.Before(since) {
			delete(open, item.ID)
		}
	}
	return p.askPayees(ctx, history, open)
}

// toldPaid returns the entry of a row that the service says is paid. What a person has told the journal stands.
func (p *payer) toldPaid(row payment) (journal.Entry, bool) {
	e, known := p.journal.Get(p.job.requestID(row))
	return e, known && e.State == journal.StateDone && !e.Resolved
}

// askPayees looks for the open payments in the histories of the accounts that were to be paid.
func (p *payer) askPayees(ctx context.Context, history historian, open map[prepaid.TransactionID]prepaid.Amount) error {
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
			e, told := p.toldPaid(row)
			if _, asked := open[e.TransactionID]; !told || !asked {
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

// askPayee marks a row whose money has not arrived. It looks twice, as a history may be late.
func (p *payer) askPayee(ctx context.Context, history historian, row payment) error {
	for look := range 2 {
		if look > 0 && !sleep(ctx, p.booking) {
			return ctx.Err()
		}
		if arrived, err := p.arrived(ctx, history, row); arrived || err != nil {
			return err
		}
	}
	p.mark(p.elsewhere, p.job.requestID(row))
	wrong := &rowError{line: row.line}
	wrong.add("", "was answered with an earlier payment of this run, date and key, of another amount or to another account; not paid")
	p.report(wrong)
	return nil
}

// arrived looks into the history of the account that was to be paid.
func (p *payer) arrived(ctx context.Context, history historian, row payment) (bool, error) {
	e, _ := p.toldPaid(row)
	earliest := p.job.date.Add(-dayEarliest - 24*time.Hour) // no payment of this run is older
	for item, err := range history.Transactions(ctx, row.account, after(earliest)) {
		if errors.Is(err, prepaid.ErrNotFound) {
			return false, nil
		}
		if err != nil {
			return false, fmt.Errorf("line %d: the history of the account: %w", row.line, err)
		}
		same := item.ID == e.TransactionID || item.ParentID == e.TransactionID || item.ParentID == ""
		if same && item.Amount == row.amount && item.Reference == row.reference {
			return true, nil
		}
	}
	return false, nil
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

// after selects all that was booked from a moment on.
func after(since time.Time) prepaid.ListTransactionsParams {
	return prepaid.ListTransactionsParams{
		From: since, To: time.Now().Add(bookingTime), Paging: prepaid.Paging{Size: proofPage, Prefetch: 1},
	}
}
