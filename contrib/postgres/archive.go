package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

const (
	// archiveAge is the time that the service remembers, and how far a request ID may be ahead of the day on which it is enqueued.
	archiveAge = (30 + 7) * 24 * time.Hour
	// expiredAge is how old the day of an ID must be: no client has sent it for a week, and Enqueue refuses it.
	expiredAge  = 30 * 24 * time.Hour
	archiveRows = 500 // of one transaction
)

const (
	// settledSQL reads and locks settled payments of one state, in pages.
	settledSQL = `select request_id, changed from {s}.payments
	where due is null and state = $1 and hook_due is null and review is null and changed < $2 and (changed, request_id) > ($3, $4)
	order by changed, request_id limit $5 for update skip locked`

	archiveSQL = `with p as (delete from {s}.payments where request_id = any($1) returning *)
	insert into {s}.archive (number, request_id, operation, account_id, amount, destination, params, state, began, changed,
		first_sent, last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved)
	select number, request_id, operation, account_id, amount, destination, params, state, began, changed,
		first_sent, last_sent, not_before, attempts, runs, transaction_id, correlation_id, code, resolved
	from p`
)

// Archive moves payments that were settled before a time out of the table that workers use, and returns how many. Call it
// now and then, such as each night: the table, its backups and its vacuum stay small. It moves 500 in a transaction and does
// not hold up workers; if it is stopped, call it again.
//
// It moves payments that are done, rejected or withdrawn, if the request ID carries a day that is more than 30 days ago, so that it can
// neither be enqueued nor sent any more. It never touches a payment that workers or a person have to do with, nor one whose
// Settled function has not succeeded yet. A request ID in a format of your own is never archived: it may be used again at any
// time, and a forgotten ID pays again.
//
// [Store.Get] and [Store.All] see archived payments, and so does the view all_payments; [Store.Retry] does not, and
// sealed params of rejected payments are dropped. Account, amount, states, times and digests remain. When you no longer have to
// keep that, delete it yourself, for example:
//
//	with gone as (delete from prepaid.archive where changed < now() - interval '7 years' returning number)
//	delete from prepaid.history where payment in (select number from gone)
//
// Errors: a [*prepaid.ValidationError] if before is less than 37 days ago, those of the database.
func (s *Store) Archive(ctx context.Context, before time.Time) (moved int, err error) {
	var now time.Time
	if err := s.pool.QueryRow(ctx, "select now()").Scan(&now); err != nil {
		return 0, failure("archive", err)
	}
	if now.Sub(before) < archiveAge {
		fault := prepaid.Fault{Field: "before", Rule: "must be at least 37 days ago"}
		return 0, failure("archive", &prepaid.ValidationError{Faults: []prepaid.Fault{fault}})
	}
	for _, state := range journal.States() {
		var id string // of the last row that was read, which may not be archived
		var changed time.Time
		for read := archiveRows; read == archiveRows && !state.Pending(); {
			n := 0
			err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
				var expired []string
				read = 0
				rows, _ := tx.Query(ctx, s.sql.Replace(settledSQL), state, before, changed, id, archiveRows) // ForEachRow returns the error
				_, err := pgx.ForEachRow(rows, []any{&id, &changed}, func() error {
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
