package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Get returns the entry of a request ID, archived or not, with Postgres's times. A payment that a worker holds is intended or unknown.
//
// Errors: [journal.ErrNoPayment], those of the database.
func (s *Store) Get(ctx context.Context, id prepaid.RequestID) (journal.Entry, error) {
	var e journal.Entry
	err := scan(s.pool.QueryRow(ctx, s.sql.Replace("select {columns} from {s}.all_payments p where p.request_id = $1"), id), &e)
	if errors.Is(err, pgx.ErrNoRows) {
		err = journal.ErrNoPayment
	}
	if err != nil {
		return journal.Entry{}, failure("get", err)
	}
	return e, nil
}

// All iterates over all payments in the order of their request IDs, archived payments included. It reads them in pages:
// a payment that changes meanwhile may be seen before or after the change. An error ends the loop.
func (s *Store) All(ctx context.Context) iter.Seq2[journal.Entry, error] {
	return s.list(ctx, "all", "all_payments p where")
}

// Waiting iterates over the payments for which a person must decide, in the order of their request IDs: sending them again would not
// resolve them. [journal.Entry].Review is the reason. If the outcome is unknown, look at the account's history, then call [Store.Resolve].
// If the payment was rejected (the client knows another payment under the request ID), use [Store.Withdraw] or [Store.Retry].
func (s *Store) Waiting(ctx context.Context) iter.Seq2[journal.Entry, error] {
	return s.list(ctx, "waiting", "payments p where p.review is not null and")
}

const page = 500

func (s *Store) list(ctx context.Context, step, from string) iter.Seq2[journal.Entry, error] {
	query := s.sql.Replace("select {columns} from {s}." + from + " p.request_id > $1 order by p.request_id limit $2")
	return func(yield func(journal.Entry, error) bool) {
		after := prepaid.RequestID("")
		for {
			rows, _ := s.pool.Query(ctx, query, after, page) // CollectRows returns the error
			list, err := pgx.CollectRows(rows, collectEntry)
			if err != nil {
				yield(journal.Entry{}, failure(step, err))
				return
			}
			for _, e := range list {
				if !yield(e, nil) {
					return
				}
				after = e.RequestID
			}
			if len(list) < page {
				return
			}
		}
	}
}

// moment is a time that a statement returns in microseconds since 1970; null is the zero time.
type moment time.Time

// at is a target of Scan for t.
func at(t *time.Time) *moment { return (*moment)(t) }

// ScanInt64 implements [pgtype.Int64Scanner].
func (m *moment) ScanInt64(v pgtype.Int8) error {
	*m = moment{}
	if v.Valid {
		*m = moment(time.UnixMicro(v.Int64).UTC())
	}
	return nil
}

// columns are the columns that scan reads.
const columns = `p.request_id, p.operation, p.account_id, p.amount::text, encode(p.destination, 'hex'), encode(p.params, 'hex'), p.state,
	{p.changed}, p.runs, p.attempts, p.resolved, coalesce(p.transaction_id, ''), coalesce(p.correlation_id, ''), coalesce(p.code, ''),
	coalesce(p.review, ''), {p.began}, {p.first_sent}, {p.last_sent}, {p.not_before}`

// scan reads an entry, with Postgres's times, and more columns.
func scan(row pgx.Row, e *journal.Entry, more ...any) error {
	var amount string
	targets := []any{
		&e.RequestID, &e.Operation, &e.AccountID, &amount, &e.Destination, &e.Params, &e.State, at(&e.Changed), &e.Runs, &e.Attempts, &e.Resolved,
		&e.TransactionID, &e.CorrelationID, &e.Code, &e.Review, at(&e.Began), at(&e.FirstSent), at(&e.LastSent), at(&e.NotBefore),
	}
	if err := row.Scan(append(targets, more...)...); err != nil {
		return err
	}
	if !utf8.ValidString(string(e.RequestID)) || !utf8.ValidString(string(e.AccountID)) {
		return fmt.Errorf("payment %q: client_encoding differs from that of Enqueue", e.RequestID)
	}
	var err error
	if e.Amount, err = prepaid.ParseAmount(amount); err != nil {
		return fmt.Errorf("amount of payment %q: %w", e.RequestID, err)
	}
	return nil
}

func collectEntry(row pgx.CollectableRow) (e journal.Entry, err error) {
	err = scan(row, &e)
	return e, err
}
