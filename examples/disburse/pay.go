package main

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

var (
	errInterrupted = errors.New("interrupted, no further payment was started")
	errTooMany     = errors.New("stopped: too many payments in a row failed")
)

// payer pays the rows of a list.
type payer struct {
	settings

	job     *job
	list    *list
	journal *journal.Journal
	sender  journal.Sender
	report  func(text string)
	began   time.Time

	paid    int                          // in this run
	streak  int                          // failed payments since the last successful one
	trouble error                        // error of the last failed payment
	marks   map[prepaid.RequestID]string // rows that the journal has as paid, and the history does not show
}

// pay sends the due payments until all have a final state, ctx ends, or an error forbids to continue, which it returns. It
// waits for running payments: the journal records how they ended.
//
// Payments of unknown outcome come after new ones, because the journal makes them wait, and get a second chance. Rows that an
// earlier run saw refused come last: no number of refusals keeps an unknown outcome from being resolved.
func (p *payer) pay(ctx context.Context) error {
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	var watch sync.WaitGroup
	watch.Go(func() {
		select {
		case <-ctx.Done():
		case <-sending.Done():
			return
		}
		p.report(fmt.Sprintf("interrupted: waiting for running payments, at most %s", p.grace))
		if sleep(sending, p.grace) {
			cut() // calls that it cuts off are recorded as unknown
		}
	})
	defer watch.Wait()
	defer cut()
	fresh := func(e journal.Entry, known bool) bool { return !known || e.State == journal.StateNotSent }
	unknown := func(e journal.Entry, known bool) bool {
		return known && (isUnknown(e) || e.State == journal.StateNotSent)
	}
	refused := func(e journal.Entry, known bool) bool {
		return known && p.job.retryRefused && e.State == journal.StateRejected && e.Changed.Before(p.began)
	}
	for _, due := range []func(e journal.Entry, known bool) bool{fresh, unknown, unknown, refused} {
		err := p.round(ctx, sending, due)
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// round sends the rows that are due. After an error, or the end of ctx, it starts no further payment.
func (p *payer) round(ctx, sending context.Context, due func(e journal.Entry, known bool) bool) error {
	payments := func(yield func(journal.Payment) bool) {
		for _, row := range p.list.rows {
			id := p.job.requestID(row)
			if e, known := p.journal.Get(id); !due(e, known) {
				continue
			}
			// The journal would also wait, but with the context of running payments, which Ctrl+C does not end.
			if !sleep(ctx, time.Until(p.journal.NotBefore(p.sender, id))) {
				return
			}
			if !yield(journal.Payment{Account: p.job.float, Params: p.job.params(row)}) {
				return
			}
		}
	}
	for e, err := range p.journal.PayAll(sending, p.sender, p.workers, payments) {
		if err == nil {
			p.paid++
			p.streak = 0
			p.onPaid()
			continue
		}
		p.trouble = err
		if e.State != journal.StateRejected || e.Runs == 1 { // not refused by an earlier run already
			p.streak++
		}
		switch {
		case errors.Is(err, journal.ErrNotRecorded): // nothing more can be sent safely
			return err
		case p.streak >= p.stopAfter:
			return fmt.Errorf("%w (%d)", errTooMany, p.stopAfter)
		}
	}
	return nil
}

// sleep returns false if ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
