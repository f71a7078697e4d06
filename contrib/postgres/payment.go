package prepaidpg

import (
	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgtype"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// columns are what scan reads.
const columns = `p.request_id, p.operation, p.account_id, p.amount::text, encode(p.destination, 'hex'), encode(p.params, 'hex'), p.state,
	p.changed, p.runs, p.attempts, p.resolved, coalesce(p.transaction_id, ''), coalesce(p.correlation_id, ''), coalesce(p.code, ''),
	coalesce(p.review, ''), p.began, p.first_sent, p.last_sent, p.not_before`

// scan reads an entry, with Postgres's times, and what else the statement selects.
func scan(row pgx.Row, e *journal.Entry, more ...any) error {
	var amount string
	var began, firstSent, lastSent, notBefore pgtype.Timestamptz
	targets := []any{
		&e.RequestID, &e.Operation, &e.AccountID, &amount, &e.Destination, &e.Params, &e.State, &e.Changed, &e.Runs, &e.Attempts, &e.Resolved,
		&e.TransactionID, &e.CorrelationID, &e.Code, &e.Review, &began, &firstSent, &lastSent, &notBefore,
	}
	if err := row.Scan(append(targets, more...)...); err != nil {
		return err
	}
	e.Changed, e.Began, e.NotBefore = e.Changed.UTC(), began.Time.UTC(), notBefore.Time.UTC()
	e.FirstSent, e.LastSent = firstSent.Time.UTC(), lastSent.Time.UTC()
	var err error
	e.Amount, err = prepaid.ParseAmount(amount)
	return err
}

// collectEntry returns the entry of a row.
func collectEntry(row pgx.CollectableRow) (e journal.Entry, err error) {
	err = scan(row, &e)
	return e, err
}
