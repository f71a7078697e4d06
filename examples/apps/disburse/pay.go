package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid/journal"
)

var (
	errInterrupted = errors.New("interrupted, no further payment was started")
	errTooMany     = errors.New("stopped: too many payments in a row failed")
)

// pay sends payments until all have a final state, ctx ends, or an error forbids more payments. It waits for payments in progress.
//
// New payments come first. Payments of unknown outcome follow, in two rounds, because the journal makes them wait.
// Rows that were refused in an earlier run come last, so that refusals never prevent the resolution of an unknown outcome.
func (d *disbursement) pay(ctx context.Context) error {
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	// After Ctrl+C, payments in progress have d.grace left. If a call is cut off, the journal records it as unknown.
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(d.grace, cut) })
	defer stop()
	rounds := []string{stateNotSent, stateUnknown, stateUnknown}
	if d.job.retryRefused {
		rounds = append(rounds, stateRejected)
	}
	for _, due := range rounds {
		err := d.round(ctx, sending, due)
		if ctx.Err() != nil {
			return errInterrupted
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// round sends the rows with state == due. It starts no further payment after the end of ctx or after an error that it returns.
func (d *disbursement) round(ctx, sending context.Context, due string) error {
	payments := func(yield func(journal.Payment) bool) {
		for _, row := range d.list.rows {
			id := d.job.requestID(row)
			e, known := d.journal.Get(id)
			again := due == stateUnknown && known && e.State == journal.StateNotSent // the first round could not send it
			if state := stateOf(e); !again && (state != due || state == stateRejected && !e.Changed.Before(d.began)) {
				continue
			}
			// The journal would wait too, but Ctrl+C does not end the context of its wait.
			if !sleep(ctx, time.Until(d.journal.NotBefore(d.client.Accounts, id))) {
				return
			}
			if !yield(journal.Payment{Account: d.job.float, Params: d.job.params(row)}) {
				return
			}
		}
	}
	for e, err := range d.journal.PayAll(sending, d.client.Accounts, d.workers, payments) {
		if err == nil {
			d.paid, d.streak = d.paid+1, 0
			_ = d.bar.Add(1)
			if d.onPaid != nil {
				d.onPaid()
			}
			continue
		}
		d.trouble = err
		if e.State != journal.StateRejected || e.Runs == 1 { // not yet refused by an earlier run
			d.streak++
		}
		if errors.Is(err, journal.ErrNotRecorded) { // sending more would be unsafe
			return err
		}
		if d.streak >= d.stopAfter {
			return fmt.Errorf("%w (%d)", errTooMany, d.stopAfter)
		}
	}
	return nil
}

// sleep waits for the time d. If ctx ends first, it returns false.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
	return ctx.Err() == nil
}
