package prepaidpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/journal"
)

// newEntry checks a payment as the client would before sending, and seals it. An error leaves the request ID in it.
func (s *Store) newEntry(account prepaid.AccountID, params prepaid.PaymentParams, now time.Time) (journal.Entry, error) {
	e, err := journal.NewEntry(s.options.DigestKey, account, params)
	if err == nil {
		err = validate(account, params)
	}
	if err == nil && e.RequestID.Expired(now) {
		err = prepaid.ErrRequestIDExpired
	}
	if err != nil {
		return e, err
	}
	e.Sealed, err = e.Seal(s.options.Seal, params)
	return e, err
}

func validate(account prepaid.AccountID, params prepaid.PaymentParams) error {
	var f faults.List
	bad := func(r rune) bool { return r == '/' || r == '\\' || r == '%' || r < ' ' || r == 0x7f }
	f.Require(account != "" && account != "." && account != ".." && !strings.ContainsFunc(string(account), bad), "id",
		`is required, and must not be "." or ".." or contain a slash, a percent sign or a control character`)
	if invalid, ok := errors.AsType[*prepaid.ValidationError](params.Validate()); ok {
		f = append(f, invalid.Faults...)
	}
	return f.Err()
}

// Enqueue adds a payment to tx, the caller's own transaction: if it is committed, the payment will be sent once by the
// workers of any [Store.Run]; if it is rolled back, nothing was requested. params are a [prepaid.TransferParams] or a
// [prepaid.DirectEntryOutParams], as values, and are encrypted with Options.Seal.
//
// The same payment again has no effect, whatever its state: one that was rejected is due again only after [Store.Retry]. If
// another transaction adds a payment under the same request ID at the same moment, Enqueue waits for its end. LastSent
// of params is for a payment that was sent without the store, with unknown outcome: it is stored as unknown.
//
// Errors, none of which affects tx: a [*prepaid.ValidationError] of account or params; [prepaid.ErrRequestIDExpired] if the
// request ID carries a day more than 22 days ago or 7 days ahead, which the client would not send (also if the payment is
// known); [*journal.ChangedError] if the request ID is known with another account or other params. Then do not pay under a
// new request ID: a person must decide. After an error of the database, tx is rolled back, as usual.
func (s *Store) Enqueue(ctx context.Context, tx pgx.Tx, account prepaid.AccountID, params prepaid.PaymentParams) error {
	e, err := s.newEntry(account, params, time.Now())
	if err == nil {
		_, known := s.insert(ctx, tx, []journal.Entry{e}, func(_ int, refused error) { err = refused })
		err = cmp.Or(err, known)
	}
	return failure("enqueue", err)
}

// Payment is one payment of a batch.
type Payment = journal.Payment

// BatchError lists the payments because of which nothing of a batch was added. errors.Is and errors.As look into each
// fault.
type BatchError struct {
	// Faults are in the order of the batch, at most 100: the batch is not read any further then.
	Faults []BatchFault
}

// BatchFault is one payment of a batch that cannot be added.
type BatchFault struct {
	// Index is its place in the batch, from 0.
	Index int
	// RequestID is its request ID, empty if the params have none.
	RequestID prepaid.RequestID
	// Err is an error as of [Store.Enqueue]: a [*prepaid.ValidationError], [prepaid.ErrRequestIDExpired] or a
	// [*journal.ChangedError].
	Err error
}

// Error returns the number of faults, and the first.
func (e *BatchError) Error() string {
	if len(e.Faults) == 0 {
		return "prepaidpg: batch refused"
	}
	first := e.Faults[0]
	return fmt.Sprintf("prepaidpg: batch refused: %d payments, the first is number %d: %v", len(e.Faults), first.Index, first.Err)
}

// Unwrap returns the errors of all faults.
func (e *BatchError) Unwrap() []error {
	list := make([]error, len(e.Faults))
	for i, fault := range e.Faults {
		list[i] = fault.Err
	}
	return list
}

const (
	batchRows   = 1000 // of one statement: the memory of a batch
	batchFaults = 100
)

// EnqueueBatch adds payments to tx, the caller's own transaction, as [Store.Enqueue] does for one: all of them, or none. It
// returns how many were new; those that are known with the same params, or occur twice, are no error and have no effect. The
// payments can be any number: it keeps 1,000 of them in memory. An error in payments, such as a line that cannot be read, ends
// the batch: nothing is added, and it is returned.
//
// Errors, none of which affects tx: a [*BatchError] with the payments to correct; the first error in payments; those of the
// database, such as a deadlock with another batch that has the same payments in another order.
func (s *Store) EnqueueBatch(ctx context.Context, tx pgx.Tx, payments iter.Seq2[Payment, error]) (added int, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // a savepoint
		var faults []BatchFault
		var list []journal.Entry // for one statement
		var indexes []int        // in the batch
		flush := func() error {
			n, err := s.insert(ctx, tx, list, func(i int, err error) {
				faults = append(faults, BatchFault{Index: indexes[i], RequestID: list[i].RequestID, Err: err})
			})
			added += n
			list, indexes = list[:0], indexes[:0]
			return err
		}
		index := 0
		for p, err := range payments {
			if err != nil {
				return err
			}
			e, err := s.newEntry(p.Account, p.Params, time.Now())
			if err != nil {
				faults = append(faults, BatchFault{Index: index, RequestID: e.RequestID, Err: err})
			} else {
				list, indexes = append(list, e), append(indexes, index)
			}
			if len(list) == batchRows {
				if err := flush(); err != nil {
					return err
				}
			}
			if len(faults) >= batchFaults {
				break
			}
			index++
		}
		if err := flush(); err != nil {
			return err
		}
		if len(faults) > 0 {
			slices.SortFunc(faults, func(a, b BatchFault) int { return a.Index - b.Index })
			return &BatchError{Faults: faults[:min(len(faults), batchFaults)]}
		}
		return nil
	})
	if err == nil {
		return added, nil
	}
	if _, refused := errors.AsType[*BatchError](err); !refused {
		err = failure("enqueue", err)
	}
	return 0, err
}

// insertSQL adds payments with their history, the first of each request ID, and returns the request IDs that were new. An insert that
// meets another transaction's row under the same request ID waits for its end. ago is how long ago a payment was sent without this
// store, in microseconds, or null.
const insertSQL = `with p as (
	insert into {s}.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due, began, last_sent, not_before)
	select request_id, operation, account_id, amount::numeric, decode(destination, 'hex'), decode(params, 'hex'), sealed, state, now(),
		now() - ago * interval '1 microsecond', now() - ago * interval '1 microsecond', now() - ago * interval '1 microsecond'
	from {b} where not exists (select from {s}.archive a where a.request_id = b.request_id) order by position
	on conflict (request_id) do nothing returning request_id, number, lease, 'enqueue' as event, state, code, attempts
), {history} select request_id from p`

// oneSQL is for one payment. With an array of one element the plan that Postgres keeps would read the whole archive into a hash table.
var (
	oneSQL = strings.Replace(insertSQL, "{b}", `(select $1::text as request_id, $2::text as operation, $3::text as account_id,
		$4::text as amount, $5::text as destination, $6::text as params, $7::bytea as sealed, $8::text as state, $9::bigint as ago,
		1 as position) b`, 1)
	batchSQL = strings.Replace(insertSQL, "{b}", `unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
		$7::bytea[], $8::text[], $9::bigint[]) with ordinality
		as b(request_id, operation, account_id, amount, destination, params, sealed, state, ago, position)`, 1)
)

const knownSQL = `select {columns} from {s}.all_payments p where p.request_id = any($1)`

// insert adds payments, and returns how many were new. refuse gets those that are known with other params.
func (s *Store) insert(ctx context.Context, tx pgx.Tx, list []journal.Entry, refuse func(i int, err error)) (int, error) {
	var ids, operations, accounts, amounts, destinations, params, states []string
	var sealed [][]byte
	var ago []*int64
	now := time.Now()
	for _, e := range list {
		ids, operations, accounts = append(ids, string(e.RequestID)), append(operations, e.Operation), append(accounts, string(e.AccountID))
		amounts, destinations, params = append(amounts, e.Amount.String()), append(destinations, e.Destination), append(params, e.Params)
		states, sealed, ago = append(states, string(e.State)), append(sealed, e.Sealed), append(ago, age(now, e.LastSent))
	}
	statement, arguments := s.batch, []any{ids, operations, accounts, amounts, destinations, params, sealed, states, ago}
	if len(list) == 1 {
		statement = s.one
		arguments = []any{ids[0], operations[0], accounts[0], amounts[0], destinations[0], params[0], sealed[0], states[0], ago[0]}
	}
	rows, _ := tx.Query(ctx, statement, arguments...)
	added, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil || len(added) == len(list) {
		return len(added), err
	}
	rows, _ = tx.Query(ctx, s.sql.Replace(knownSQL), ids) // CollectRows returns the error
	entries, err := pgx.CollectRows(rows, collectEntry)
	known := make(map[prepaid.RequestID]journal.Entry, len(entries))
	for _, e := range entries {
		known[e.RequestID] = e
	}
	for i, e := range list {
		if k, ok := known[e.RequestID]; !ok && err == nil {
			err = pgx.ErrNoRows // another transaction has removed it meanwhile
		} else if changed := k.Match(e); ok && changed != nil {
			refuse(i, changed)
		}
	}
	return len(added), err
}
