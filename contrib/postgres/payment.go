package prepaidpg

import (
	"encoding/hex"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// payment is a row.
type payment struct {
	entry  journal.Entry // with Postgres's times
	number int64
	now    time.Time // Postgres's, when the row was read
	sealed []byte
	lease  int64
}

// scan reads the columns of an entry, and after them Postgres's time and what else the statement selects: first sealed and lease,
// if any.
func (p *payment) scan(row pgx.Row, more ...any) error {
	var (
		id, account, amount, state          string
		destination, params                 []byte
		began, firstSent, lastSent, rest    *time.Time
		transaction, correlation, code, why *string
	)
	e := &p.entry
	targets := append(make([]any, 0, 26), &p.number, &id, &e.Operation, &account, &amount, &destination, &params, &state, &began,
		&e.Changed, &e.Runs, &firstSent, &lastSent, &e.Attempts, &rest, &transaction, &correlation, &code,
		&e.Resolved, &why, &p.now)
	if err := row.Scan(append(targets, more...)...); err != nil {
		return err
	}
	var err error
	if e.Amount, err = prepaid.ParseAmount(amount); err != nil {
		return err
	}
	e.RequestID, e.AccountID, e.State = prepaid.RequestID(id), prepaid.AccountID(account), journal.State(state)
	e.Destination, e.Params = hex.EncodeToString(destination), hex.EncodeToString(params)
	e.FirstSent, e.LastSent, e.NotBefore = orZero(firstSent).UTC(), orZero(lastSent).UTC(), orZero(rest).UTC()
	e.TransactionID, e.CorrelationID = prepaid.TransactionID(orZero(transaction)), orZero(correlation)
	e.Code, e.Review = prepaid.ErrorCode(orZero(code)), journal.Review(orZero(why))
	e.Began, e.Changed = orZero(began).UTC(), e.Changed.UTC()
	return nil
}

func orZero[T any](p *T) (value T) {
	if p != nil {
		value = *p
	}
	return value
}

func orNull[T comparable](value T) *T {
	var zero T
	if value == zero {
		return nil
	}
	return &value
}
