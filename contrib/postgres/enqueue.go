package prepaidpg

import (
	"cmp"
	"context"
	"encoding/hex"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/journal"
)

// newEntry checks a payment as the client would before sending, and seals it. Even after an error the entry has the request ID.
func (s *Store) newEntry(account prepaid.AccountID, params prepaid.PaymentParams, now time.Time) (journal.Entry, error) {
	e, err := journal.NewEntry(s.options.DigestKey, account, params)
	if err == nil {
		err = validate(e, params)
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

func validate(e journal.Entry, params prepaid.PaymentParams) error {
	var f faults.List
	account := e.AccountID
	f.Require(utf8.ValidString(string(e.RequestID)), "request_id", "must be UTF-8")
	bad := func(r rune) bool { return r == '/' || r == '\\' || r == '%' || r < ' ' || r == 0x7f }
	f.Require(utf8.ValidString(string(account)) && account != "" && account != "." && account != ".." && !strings.ContainsFunc(string(account), bad), "id",
		`is required, and must not be "." or ".." or contain a slash, a percent sign, a control character or invalid UTF-8`)
	if invalid, ok := errors.AsType[*prepaid.ValidationError](params.Validate()); ok {
		f = append(f, invalid.Faults...)
	}
	return f.Err()
}

// Enqueue adds a payment to tx, the caller's own transaction: after its commit, workers of any [Store.Run] send the
// payment once; after its rollback, nothing was requested. params are a [prepaid.TransferParams] or a
// [prepaid.DirectEntryOutParams], not a pointer, and are encrypted with Options.Seal.
//
// Enqueueing the same payment again has no effect in any state: a rejected payment is due again only after [Store.Retry].
// If another transaction adds a payment under the same request ID at that moment, Enqueue waits for that transaction to end.
// Set LastSent of params if the payment was sent without the store, with unknown outcome: it is then stored as unknown.
//
// Errors, none of which affects tx: a [*prepaid.ValidationError] of account or params; [prepaid.ErrRequestIDExpired] if the
// day in the request ID is more than 22 days ago or 7 days ahead (even if the payment is known), since the client would not
// send it; [*journal.ChangedError] if the request ID is known with another account or other params. After a ChangedError do
// not pay under a new request ID: a person must decide. After an error of the database, tx is rolled back, as usual.
func (s *Store) Enqueue(ctx context.Context, tx pgx.Tx, account prepaid.AccountID, params prepaid.PaymentParams) error {
	e, err := s.newEntry(account, params, time.Now())
	if err == nil {
		_, known := s.add(ctx, tx, []journal.Entry{e}, func(_ int, refused error) { err = refused })
		err = cmp.Or(err, known)
	}
	return failure("enqueue", err)
}

// BatchError lists the payments that prevented a batch; nothing was added. errors.Is and errors.As search its faults.
type BatchError struct {
	// Faults are in the order of the batch. After 100 faults the rest of the batch is not read.
	Faults []BatchFault
}

// BatchFault is one payment of a batch that cannot be added.
type BatchFault struct {
	// Index is the place in the batch, from 0.
	Index int
	// RequestID is the request ID of the payment; empty if the params have none.
	RequestID prepaid.RequestID
	// Err is an error of [Store.Enqueue]: a [*prepaid.ValidationError], [prepaid.ErrRequestIDExpired] or a [*journal.ChangedError].
	Err error
}

// Error returns the number of faults, and the first fault.
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
	batchRows   = 1000 // in one statement, and in memory
	batchFaults = 100
)

// EnqueueBatch adds payments to tx, the caller's own transaction, like [Store.Enqueue]: all of them, or none. It
// returns how many were new. Payments that are known with the same params, or occur twice in the batch, are no error
// and have no effect. Any number of payments is possible: memory holds 1,000 at a time. An error in payments, such as
// an unreadable line, ends the batch: nothing is added, and EnqueueBatch returns the error.
//
// Errors, none of which affects tx: a [*BatchError] with the payments to correct; the first error in payments; those of the
// database, such as a deadlock with a batch of the same payments in another order.
func (s *Store) EnqueueBatch(ctx context.Context, tx pgx.Tx, payments iter.Seq2[journal.Payment, error]) (added int, err error) {
	err = pgx.BeginFunc(ctx, tx, func(tx pgx.Tx) error { // a savepoint
		var faults []BatchFault
		var list []journal.Entry // for one statement
		var indexes []int        // in the batch
		flush := func() error {
			n, err := s.add(ctx, tx, list, func(i int, err error) {
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

// insertSQL adds the first payment of each request ID, with its history, and affects one row for each new payment. If another transaction
// has added a row under the same request ID, the insert waits for the end of that transaction. $9 and $10 are ages in microseconds, since
// the caller's transaction can be old. The archive is searched for one ID at a time: otherwise a cached plan could read the whole archive.
//
// Enqueue has insertOneSQL: Postgres plans a statement with arrays again each time.
const (
	insertSQL = `with b as (select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[],
		$8::text[], $9::bigint[], $10::bigint[]) with ordinality ` + insertB + ` order by position` + insertP
	insertOneSQL = `with b as (select * from (values ($1::text, $2::text, $3::text, $4::text, $5::bytea, $6::bytea, $7::bytea,
		$8::text, $9::bigint, $10::bigint, 1)) ` + insertB + insertP
	insertB = `as b (request_id, operation, account_id, amount, destination, params, sealed, state, first_age, last_age, position)
), p as (
	insert into {s}.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due, began, first_sent, last_sent, not_before)
	select request_id, operation, account_id, amount::numeric, destination, params, sealed, state,
		now(), sent.last, sent.first, sent.last, sent.last
	from b, lateral (select statement_timestamp() - first_age * interval '1 microsecond' as first,
		statement_timestamp() - last_age * interval '1 microsecond' as last) sent
	where (select true from {s}.archive a where a.request_id = b.request_id) is null`
	insertP = ` on conflict (request_id) do nothing returning number, lease, 'enqueue' as event, state, code, attempts
) {add history}`
)

const knownSQL = `select {columns} from {s}.all_payments p where p.request_id = any($1)`

// add adds payments, and returns how many were new. It calls refuse for each payment that is known with other params.
func (s *Store) add(ctx context.Context, tx pgx.Tx, list []journal.Entry, refuse func(i int, err error)) (int, error) {
	if len(list) == 0 {
		return 0, nil
	}
	var ids, operations, accounts, amounts, states []string
	var destinations, params, sealed [][]byte
	var first, last []*int64
	age := func(t time.Time) *int64 {
		if t.IsZero() {
			return nil
		}
		return new(time.Since(t).Microseconds())
	}
	for _, e := range list {
		destination, _ := hex.DecodeString(e.Destination) // NewEntry has encoded it
		digest, _ := hex.DecodeString(e.Params)
		ids, operations, accounts = append(ids, string(e.RequestID)), append(operations, e.Operation), append(accounts, string(e.AccountID))
		amounts, states = append(amounts, e.Amount.String()), append(states, string(e.State))
		destinations, params, sealed = append(destinations, destination), append(params, digest), append(sealed, e.Sealed)
		first, last = append(first, age(e.FirstSent)), append(last, age(e.LastSent))
	}
	statement, arguments := insertSQL, []any{ids, operations, accounts, amounts, destinations, params, sealed, states, first, last}
	if len(list) == 1 {
		statement = insertOneSQL
		arguments = []any{ids[0], operations[0], accounts[0], amounts[0], destinations[0], params[0], sealed[0], states[0], first[0], last[0]}
	}
	tag, err := tx.Exec(ctx, s.sql.Replace(statement), arguments...)
	added := int(tag.RowsAffected())
	if err != nil || added == len(list) {
		return added, err
	}
	rows, _ := tx.Query(ctx, s.sql.Replace(knownSQL), ids) // CollectRows returns the error
	entries, err := pgx.CollectRows(rows, collectEntry)
	known := make(map[prepaid.RequestID]journal.Entry, len(entries))
	for _, e := range entries {
		known[e.RequestID] = e
	}
	for i, e := range list {
		if k, ok := known[e.RequestID]; !ok && err == nil {
			err = pgx.ErrNoRows // another transaction has removed the row meanwhile
		} else if changed := k.Match(e); ok && changed != nil {
			refuse(i, changed)
		}
	}
	return added, err
}
