package main

import (
	"context"
	"encoding/csv"
	"errors"
	"io"
	"log"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// grace is the time left after Ctrl+C for payments in progress.
const grace = 15 * time.Second

// pay sends all rows that are not done. After Ctrl+C it starts no further payment, and waits for those in progress: a payment that is cut
// off is resolved by the next run.
func pay(ctx context.Context, s *settings, payments *journalfile.Journal, rows []row) error {
	sending, cut := context.WithCancel(context.WithoutCancel(ctx))
	defer cut()
	first := sync.OnceFunc(func() { log.Print("payments wait for the rate limit or for their repeat") })
	sending = prepaid.WithTrace(sending, &prepaid.Trace{Waiting: func(context.Context, prepaid.Operation, time.Duration) { first() }})
	stop := context.AfterFunc(ctx, func() { time.AfterFunc(grace, cut) })
	defer stop()
	list := func(yield func(journal.Payment) bool) {
		for _, r := range rows {
			if ctx.Err() != nil || !yield(journal.Payment{Account: s.float, Params: r.params}) {
				return
			}
		}
	}
	for _, err := range payments.PayAll(sending, s.client.Accounts, 100, list) {
		switch prepaid.OutcomeOf(err) {
		case prepaid.OutcomeApplied, prepaid.OutcomeRejected: // the summary shows the row
		case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown: // the next run sends it again, under the same ID
			log.Print(err) // it has the request ID
		}
		if errors.Is(err, journal.ErrNotRecorded) {
			return err // sending more would be unsafe
		}
	}
	return ctx.Err()
}

// summarize writes the state of each row, and returns the total of those that are done. Only the journal decides.
func summarize(out io.Writer, payments *journalfile.Journal, rows []row) (journal.Total, error) {
	var total journal.Total
	table := csv.NewWriter(out)
	_ = table.Write([]string{"key", "amount", "state", "transaction_id", "code", "correlation_id", "request_id"}) // Error reports failures
	for _, r := range rows {
		e, known := payments.Get(r.params.RequestID)
		if !known {
			e.State = journal.StateQueued // never sent
		}
		if e.State == journal.StateDone {
			sum, err := total.Sum.Add(r.params.Amount)
			if err != nil {
				return total, err
			}
			total = journal.Total{Count: total.Count + 1, Sum: sum}
		}
		_ = table.Write([]string{
			r.key, r.params.Amount.String(), string(e.State), string(e.TransactionID), string(e.Code), e.CorrelationID, string(r.params.RequestID),
		})
	}
	table.Flush()
	return total, errors.Join(payments.Err(), table.Error())
}
