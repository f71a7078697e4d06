package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid"
)

// Payment is one payment of a batch.
type Payment struct {
	// Account is the account that pays.
	Account prepaid.AccountID
	// Params are a [prepaid.TransferParams] or a [prepaid.DirectEntryOutParams], as values.
	Params prepaid.PaymentParams
}

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
		b := batch{Store: s, tx: tx, first: make(map[prepaid.RequestID]int, batchRows)}
		index := 0
		for p, err := range payments {
			if err != nil {
				return err
			}
			r, err := s.row(p.Account, p.Params, time.Now())
			if err != nil {
				b.refuse(index, r.entry.RequestID, err)
			} else if err := b.add(ctx, index, r); err != nil {
				return err
			}
			if len(b.faults) >= batchFaults {
				break
			}
			index++
		}
		if err := b.flush(ctx); err != nil {
			return err
		}
		if len(b.faults) > 0 {
			slices.SortFunc(b.faults, func(a, b BatchFault) int { return a.Index - b.Index })
			return &BatchError{Faults: b.faults[:min(len(b.faults), batchFaults)]}
		}
		if added = b.added; added > 0 {
			_, err := tx.Exec(ctx, b.sql.notify)
			return err
		}
		return nil
	})
	if _, refused := errors.AsType[*BatchError](err); err != nil && !refused {
		return 0, failure("enqueue", err)
	}
	return added, err
}

// batchSQL is enqueueSQL for many payments; it returns the request IDs that were new.
const batchSQL = `with b as (
	select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::bytea[], $6::bytea[], $7::bytea[], $8::text[], $9::bigint[])
	as b(request_id, operation, account_id, amount, destination, params, sealed, state, ago)
), p as (
	insert into {s}.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due, began, last_sent, not_before)
	select request_id, operation, account_id, amount::numeric, destination, params, sealed, state, now(),
		now() - ago * interval '1 microsecond', now() - ago * interval '1 microsecond', now() - ago * interval '1 microsecond'
	from b where not exists (select from {s}.archive a where a.request_id = b.request_id)
	on conflict (request_id) do nothing returning request_id, number, lease, state, attempts
), h as (
	insert into {s}.history (payment, lease, event, state, attempts) select number, lease, 'enqueue', state, attempts from p
)
select request_id from p`

const (
	knownSQL  = `select {columns}, now() from {s}.all_payments p where p.request_id = any($1)`
	notifySQL = `select pg_notify({channel}, '')`
)

// batch collects payments for one statement.
type batch struct {
	*Store
	tx      pgx.Tx
	rows    []row
	indexes []int                     // of rows in the batch
	first   map[prepaid.RequestID]int // place in rows
	added   int
	faults  []BatchFault
}

func (b *batch) refuse(index int, id prepaid.RequestID, err error) {
	b.faults = append(b.faults, BatchFault{Index: index, RequestID: id, Err: err})
}

func (b *batch) add(ctx context.Context, index int, r row) error {
	id := r.entry.RequestID
	if i, twice := b.first[id]; twice {
		if err := b.rows[i].entry.Match(r.entry); err != nil {
			b.refuse(index, id, err)
		}
		return nil
	}
	b.first[id] = len(b.rows)
	b.rows, b.indexes = append(b.rows, r), append(b.indexes, index)
	if len(b.rows) < batchRows {
		return nil
	}
	return b.flush(ctx)
}

// flush adds what was collected and compares what was known.
func (b *batch) flush(ctx context.Context) error {
	n := len(b.rows)
	if n == 0 {
		return nil
	}
	var (
		ids, operations, accounts, amounts, states = make([]string, n), make([]string, n), make([]string, n), make([]string, n), make([]string, n)
		destinations, params, sealed               = make([][]byte, n), make([][]byte, n), make([][]byte, n)
		ago                                        = make([]*int64, n)
	)
	for i, r := range b.rows {
		e := r.entry
		ids[i], operations[i], accounts[i], amounts[i], states[i] = string(e.RequestID), e.Operation, string(e.AccountID), e.Amount.String(), string(e.State)
		destinations[i], params[i], sealed[i], ago[i] = r.destination, r.params, r.sealed, r.ago
	}
	rows, err := b.tx.Query(ctx, b.sql.batch, ids, operations, accounts, amounts, destinations, params, sealed, states, ago)
	if err != nil {
		return err
	}
	added, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return err
	}
	b.added += len(added)
	for _, id := range added {
		delete(b.first, prepaid.RequestID(id))
	}
	if err := b.compare(ctx); err != nil {
		return err
	}
	clear(b.first)
	b.rows, b.indexes = b.rows[:0], b.indexes[:0]
	return nil
}

// compare finds what differs from the payments that were known: those left in first.
func (b *batch) compare(ctx context.Context) error {
	if len(b.first) == 0 {
		return nil
	}
	rows, err := b.tx.Query(ctx, b.sql.known, slices.Collect(maps.Keys(b.first)))
	if err != nil {
		return err
	}
	found := 0
	for rows.Next() {
		var known payment
		if err := known.scan(rows); err != nil {
			rows.Close()
			return err
		}
		found++
		i := b.first[known.entry.RequestID]
		if err := known.entry.Match(b.rows[i].entry); err != nil {
			b.refuse(b.indexes[i], known.entry.RequestID, err)
		}
	}
	if err := rows.Err(); err != nil {
		return err
	}
	if found < len(b.first) {
		return pgx.ErrNoRows // another transaction has removed them meanwhile
	}
	return nil
}
