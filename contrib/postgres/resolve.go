package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Resolve records in tx what happened to a payment of unknown outcome, found out in another way than by sending it again.
// One that moved is never sent again. One that did not is rejected; see [Store.Retry].
//
// Errors: [journal.ErrNoPayment], [journal.ErrNotUnknown], [journal.ErrUnderWay] if a worker holds it, a
// [*prepaid.ValidationError] of the resolution, those of the database.
func (s *Store) Resolve(ctx context.Context, tx pgx.Tx, id prepaid.RequestID, resolution journal.Resolution) error {
	return s.decide(ctx, tx, id, "resolve", func(p *payment, now time.Time) (journal.Entry, error) {
		return p.entry.Resolve(now, resolution)
	})
}

// Withdraw records in tx that a payment that moved nothing is not sent any more, for example because it was paid some other
// way. What was to be sent is erased. Never use its request ID again.
//
// Errors: [journal.ErrNoPayment], [journal.ErrState] unless the payment is queued, not sent or rejected,
// [journal.ErrUnderWay] if a worker holds it, those of the database.
func (s *Store) Withdraw(ctx context.Context, tx pgx.Tx, id prepaid.RequestID) error {
	return s.decide(ctx, tx, id, "withdraw", func(p *payment, now time.Time) (journal.Entry, error) {
		return p.entry.Withdraw(now)
	})
}

// Retry makes in tx a rejected payment due again, with the same request ID and params, when the reason is gone. One that was resolved as
// not moved is not sent before its earlier request can no longer be in progress.
//
// Errors: [journal.ErrNoPayment], [journal.ErrState] unless the payment is rejected, those of the database.
func (s *Store) Retry(ctx context.Context, tx pgx.Tx, id prepaid.RequestID) error {
	return s.decide(ctx, tx, id, "retry", func(p *payment, now time.Time) (journal.Entry, error) {
		if p.entry.State == journal.StateWithdrawn { // its params are erased
			return p.entry, &journal.StateError{State: p.entry.State, Event: journal.EventRetry}
		}
		return p.entry.Retry(now)
	})
}

// decide writes a person's decision about a payment that no worker holds.
func (s *Store) decide(ctx context.Context, tx pgx.Tx, id prepaid.RequestID, event string, decision func(p *payment, now time.Time) (journal.Entry, error)) error {
	var p payment
	var running bool
	err := p.scan(tx.QueryRow(ctx, s.sql.lock, id), &p.sealed, &p.lease, &running)
	if errors.Is(err, pgx.ErrNoRows) {
		return fmt.Errorf("prepaidpg: %s: %w", event, journal.ErrNoPayment)
	}
	if err != nil {
		return failure(event, err)
	}
	if running {
		return fmt.Errorf("prepaidpg: %s: %w", event, journal.ErrUnderWay)
	}
	after, err := decision(&p, p.now)
	if err != nil {
		return fmt.Errorf("prepaidpg: %s: %w", event, err)
	}
	var wait *int64
	if after.State.Pending() {
		wait = new(max(after.NotBefore.Sub(p.now), 0).Microseconds())
	}
	keeps := after.State != journal.StateDone && after.State != journal.StateWithdrawn
	_, err = tx.Exec(ctx, s.sql.write, id, after.State, orNull(after.TransactionID), after.Resolved, keeps, wait,
		!after.NotBefore.IsZero(), event)
	if err != nil {
		return failure(event, err)
	}
	return nil
}
