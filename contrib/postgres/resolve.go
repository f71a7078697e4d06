package prepaidpg

import (
	"context"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Resolve records in tx the outcome of a payment of unknown outcome. Find that outcome without sending the payment
// again. A payment that moved the money is never sent again. Any other payment becomes rejected; see [Store.Retry].
//
// Errors: [journal.ErrNoPayment], [journal.ErrNotUnknown]; [journal.ErrUnderWay] if a worker holds the payment; a
// [*prepaid.ValidationError] of the resolution; those of the database.
func (s *Store) Resolve(ctx context.Context, tx pgx.Tx, id prepaid.RequestID, resolution journal.Resolution) error {
	return s.decide(ctx, tx, id, "resolve", func(e journal.Entry, now time.Time) (journal.Entry, error) {
		return e.Resolve(now, resolution)
	})
}

// Withdraw records in tx that a payment is not sent again, for example because you paid some other way. The payment must
// have moved nothing. Withdraw erases its params. Never use its request ID again.
//
// Errors: [journal.ErrNoPayment]; [journal.ErrState] unless the payment is queued, not sent or rejected;
// [journal.ErrUnderWay] if a worker holds the payment; those of the database.
func (s *Store) Withdraw(ctx context.Context, tx pgx.Tx, id prepaid.RequestID) error {
	return s.decide(ctx, tx, id, "withdraw", journal.Entry.Withdraw)
}

// Retry makes a rejected payment due again, in tx, with the same request ID and params: use it when the reason for the
// rejection is gone. If the payment was resolved as not moved, it is not sent while its earlier request can be in progress.
//
// Errors: [journal.ErrNoPayment]; [journal.ErrState] unless the payment is rejected; those of the database.
func (s *Store) Retry(ctx context.Context, tx pgx.Tx, id prepaid.RequestID) error {
	return s.decide(ctx, tx, id, "retry", journal.Entry.Retry)
}

// Decide implements [journal.Store], in its own transaction: if you keep books, call [Store.DecideTx]. decision must be Resolve, Withdraw or
// Retry of [journal.Entry].
func (s *Store) Decide(ctx context.Context, id prepaid.RequestID, decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	return pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, durable); err != nil {
			return failure("decide", err)
		}
		return s.DecideTx(ctx, tx, id, decision)
	})
}

// DecideTx is [Store.Decide] in tx, for a tool that has the decision as a function: write to your books in tx too. Its errors are those of
// Resolve, Withdraw or Retry.
func (s *Store) DecideTx(ctx context.Context, tx pgx.Tx, id prepaid.RequestID,
	decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	return s.decide(ctx, tx, id, "decide", decision)
}

// decide writes a person's decision about a payment that no worker holds.
func (s *Store) decide(ctx context.Context, tx pgx.Tx, id prepaid.RequestID, event string,
	decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	var e journal.Entry
	var now time.Time
	err := scan(tx.QueryRow(ctx, s.sql.Replace(lockSQL), id), &e, at(&now))
	if errors.Is(err, pgx.ErrNoRows) {
		err = tx.QueryRow(ctx, s.sql.Replace("select from {s}.payments where request_id = $1"), id).Scan()
		if err == nil {
			err = journal.ErrUnderWay
		} else if errors.Is(err, pgx.ErrNoRows) {
			err = journal.ErrNoPayment
		}
	}
	if err != nil {
		return failure(event, err)
	}
	after, err := decision(e, now)
	if err == nil && e.State == journal.StateWithdrawn { // it has no params
		err = &journal.StateError{State: e.State, Event: journal.EventRetry}
	}
	if err != nil {
		return failure(event, err)
	}
	var wait *int64
	if after.State.Pending() {
		wait = new(max(after.NotBefore.Sub(now), 0).Microseconds())
	}
	keeps := after.State != journal.StateDone && after.State != journal.StateWithdrawn
	_, err = tx.Exec(ctx, s.sql.Replace(writeSQL), id, after.State, after.TransactionID, after.Resolved, keeps, wait,
		!after.NotBefore.IsZero(), event)
	return failure(event, err)
}
