package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const (
	// archiveAge adds the 30 days for which the service remembers a request ID, and 7: at Enqueue the ID's day may be so far ahead.
	archiveAge = (30 + 7) * 24 * time.Hour
	// expiredAge is the least age of the day in an archived ID. At that age, no client has sent the ID for a week, and Enqueue refuses it.
	expiredAge  = 30 * 24 * time.Hour
	archiveRows = 500 // in one transaction
)

const (
	// settledSQL reads and locks settled payments of one state, in pages.
	settledSQL = `select request_id, {p.changed} from {s}.payments p
	where due is null and state = $1 and hook_due is null and review is null and changed < $2 and (changed, request_id) > ($3, $4)
	order by changed, request_id limit $5 for update skip locked`

	archiveSQL = `with p as (delete from {s}.payments where request_id = any($1) returning *)
	insert into {s}.archive (number, request_id, operation, account_id, amount, destination, params, state, began, changed,
		first_sent, last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved)
	select number, request_id, operation, account_id, amount, destination, params, state, began, changed,
		first_sent, last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved
	from p`
)

// Archive moves payments that were settled before the given time from the workers' table to the archive, and returns
// their number. Call it for example each night, to keep the table, its backups and its vacuum small. Each transaction
// moves at most 500 payments. Workers do not wait for Archive. If Archive is interrupted, call it again.
//
// It moves payments that are done, rejected or withdrawn, if the day in the request ID is more than 30 days ago: such an ID can no
// longer be enqueued or sent. It never moves a payment that needs workers or a person, or for which Settled has not succeeded yet.
// It never moves a payment with an ID in your own format: you may enqueue such an ID at any time, and a forgotten ID pays again.
//
// [Store.Get], [Store.All] and the view all_payments include archived payments; [Store.Retry] does not. Archive drops sealed params of
// rejected payments and keeps account, amount, states, times and digests. Delete archived payments yourself when you may, for example:
//
//	with gone as (delete from prepaid.archive where changed < now() - interval '7 years' returning number)
//	delete from prepaid.history where payment in (select number from gone)
//
// Errors: a [*prepaid.ValidationError] if the given time is less than 37 days ago; those of the database.
func (s *Store) Archive(ctx context.Context, before time.Time) (moved int, err error) {
	var now time.Time
	if err := s.pool.QueryRow(ctx, s.sql.Replace("select {now()}")).Scan(at(&now)); err != nil {
		return 0, failure("archive", err)
	}
	if now.Sub(before) < archiveAge {
		fault := prepaid.FieldError{Field: "before", Rule: "must be at least 37 days ago"}
		return 0, failure("archive", &prepaid.ValidationError{Faults: []prepaid.FieldError{fault}})
	}
	for _, state := range journal.States() {
		var id string // of the last row that was read, archived or not
		var changed time.Time
		for read := archiveRows; read == archiveRows && !state.Pending(); {
			n := 0
			err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
				var expired []string
				read = 0
				rows, _ := tx.Query(ctx, s.sql.Replace(settledSQL), state, before, changed, id, archiveRows) // ForEachRow returns the error
				_, err := pgx.ForEachRow(rows, []any{&id, at(&changed)}, func() error {
					read++
					if day, ok := prepaid.RequestID(id).Date(); ok && day.Time(time.UTC).Before(now.Add(-expiredAge)) {
						expired = append(expired, id)
					}
					return nil
				})
				if err != nil || len(expired) == 0 {
					return err
				}
				tag, err := tx.Exec(ctx, s.sql.Replace(archiveSQL), expired)
				n = int(tag.RowsAffected())
				return err
			})
			if err != nil {
				return moved, failure("archive", err)
			}
			moved += n
		}
	}
	return moved, nil
}
