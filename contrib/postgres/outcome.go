package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// outcome ends the lease of a payment.
type outcome struct {
	*claimed
	after journal.Entry
	event string        // in the history
	wait  time.Duration // until the payment is due again, if it is
	idle  int
	// postponed: Settled failed, and is called later, by any worker.
	postponed bool
}

// due reports whether the payment is to be claimed again.
func (o *outcome) due() bool { return o.after.State.Pending() && o.after.Review == "" }

// rests reports whether the payment must wait before it is claimed again.
func (o *outcome) rests() bool { return o.due() && o.after.State.Open() }

// settled reports whether Workers.Settled is to be called.
func (o *outcome) settled() bool { return o.event == eventEnd && !o.due() }

// hookWait returns how long after the outcome Settled is called again, in microseconds; nil if it is not.
func (o *outcome) hookWait() *int64 {
	if !o.postponed {
		return nil
	}
	return new(firstWait.Microseconds())
}

// Events in the history, next to those that are journal.Event in words.
const (
	eventEnd      = "end"
	eventGiveBack = "give back"
)

// calls reports whether Settled is called with the outcome.
func (o *outcome) calls() bool { return o.settled() && !o.postponed }

// errSettled is the failure of Workers.Settled, or of a transaction that it spoiled.
type errSettled struct {
	err  error
	lost bool // the connection broke meanwhile, which need not be its fault
}

func (e *errSettled) Error() string { return "prepaidpg: Settled: " + e.err.Error() }

func (e *errSettled) Unwrap() error { return e.err }

// outcomeArgs returns the arguments of outcomeSQL. Times are counted from now, again at each attempt to write.
func outcomeArgs(list []*outcome) []any {
	n := len(list)
	var (
		id, event, state       = make([]string, n), make([]string, n), make([]string, n)
		lease                  = make([]int64, n)
		wait, first, last      = make([]*int64, n), make([]*int64, n), make([]*int64, n)
		rest                   = make([]*int64, n)
		attempts, runs, idle   = make([]int32, n), make([]int32, n), make([]int32, n)
		transaction, correlate = make([]*string, n), make([]*string, n)
		code, review           = make([]*string, n), make([]*string, n)
		began, resolved        = make([]bool, n), make([]bool, n)
		hook, since            = make([]*int64, n), make([]*int64, n)
	)
	now := time.Now()
	for i, o := range list {
		e := &o.after
		id[i], lease[i], event[i], state[i] = string(e.RequestID), o.lease, o.event, string(e.State)
		if o.due() {
			wait[i] = new(o.wait.Microseconds())
		}
		hook[i], resolved[i] = o.hookWait(), e.Resolved
		if o.event == eventGiveBack { // its rest does not begin again
			since[i] = age(now, e.Changed)
		}
		began[i], first[i], last[i], rest[i] = !e.Began.IsZero(), age(now, e.FirstSent), age(now, e.LastSent), age(now, e.NotBefore)
		attempts[i], runs[i], idle[i] = int32(e.Attempts), int32(e.Runs), int32(o.idle) //nolint:gosec // small
		transaction[i], correlate[i] = storable(string(e.TransactionID)), storable(e.CorrelationID)
		code[i], review[i] = orNull(string(e.Code)), orNull(string(e.Review))
	}
	return []any{id, lease, event, state, wait, first, last, rest, attempts, runs, idle, transaction, correlate, code, review, began, hook, resolved, since}
}

// age returns how long ago t was, in microseconds, or nil for the zero time.
func age(now, t time.Time) *int64 {
	if t.IsZero() {
		return nil
	}
	return new(now.Sub(t).Microseconds())
}

// storable returns a text of the service as Postgres can store it, or nil if it is empty: an outcome must not be lost
// because of it.
func storable(text string) *string {
	return orNull(strings.ReplaceAll(strings.ToValidUTF8(text, "?"), "\x00", "?"))
}

// settledFunc is Workers.Settled.
type settledFunc func(ctx context.Context, tx pgx.Tx, e journal.Entry) error

// record writes outcomes that share one transaction, with what settled writes. It returns those that were written, with
// Postgres's time in Changed; another worker has taken over the others, or an earlier attempt has written them. If settled is at
// fault, the error is an *errSettled.
func (s *Store) record(ctx context.Context, list []*outcome, settled settledFunc) (written []*outcome, err error) {
	queue := func(batch *pgx.Batch) {
		batch.Queue(s.sql.outcome, outcomeArgs(list)...).Query(func(rows pgx.Rows) (err error) {
			written, err = matching(rows, list)
			return err
		})
	}
	if settled == nil || !slices.ContainsFunc(list, (*outcome).calls) {
		if err := durably(ctx, s.pool, queue); err != nil {
			return nil, failure("record", err)
		}
		return written, nil
	}
	err = s.transaction(ctx, true, func(tx pgx.Tx) error {
		batch := &pgx.Batch{}
		batch.Queue(durable)
		queue(batch)
		if err := tx.SendBatch(ctx, batch).Close(); err != nil {
			return err
		}
		for _, o := range written {
			if !o.calls() {
				continue
			}
			if err := settle(ctx, tx, o.after, settled); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return nil, err
	}
	return written, nil
}

const beginSQL = "begin isolation level read committed read write"

// durably executes what queue adds to a transaction, in one round trip, and returns when its commit is durable.
func durably(ctx context.Context, pool *pgxpool.Pool, queue func(batch *pgx.Batch)) error {
	batch := &pgx.Batch{}
	batch.Queue(beginSQL)
	batch.Queue(durable)
	queue(batch)
	batch.Queue("commit").Exec(committed)
	return pool.SendBatch(ctx, batch).Close()
}

// committed checks the response to a commit: Postgres ends a failed transaction without an error.
func committed(tag pgconn.CommandTag) error {
	if tag.String() != "COMMIT" {
		return pgx.ErrTxCommitRollback
	}
	return nil
}

// transaction commits what work does, unless that fails. settled: work calls Workers.Settled, so that a commit may fail
// because of it.
func (s *Store) transaction(ctx context.Context, settled bool, work func(tx pgx.Tx) error) error {
	tx, err := s.pool.BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err != nil {
		return failure("begin", err)
	}
	defer func() { _ = tx.Rollback(context.WithoutCancel(ctx)) }() // no effect after a commit
	if err := work(tx); err != nil {
		if spoiled, ok := errors.AsType[*errSettled](err); ok {
			spoiled.lost = tx.Conn().IsClosed() && !errors.Is(err, context.DeadlineExceeded)
			return err
		}
		return failure("record", err)
	}
	if err := tx.Commit(ctx); err != nil {
		if !settled {
			return failure("commit", err)
		}
		refused, byServer := errors.AsType[*pgconn.PgError](err) // such as a deferred constraint
		lost := !(byServer && refused.Severity == "ERROR") && !errors.Is(err, context.DeadlineExceeded)
		return &errSettled{err: err, lost: lost}
	}
	return nil
}

// held names one lease of a payment: after a freeze, a process may hold two outcomes of a payment, one of them overtaken.
type held struct {
	id    prepaid.RequestID
	lease int64
}

// matching returns those of list whose leases are in rows.
func matching(rows pgx.Rows, list []*outcome) ([]*outcome, error) {
	var id string
	var lease int64
	var at time.Time
	found := make(map[held]struct{}, len(list))
	_, err := pgx.ForEachRow(rows, []any{&id, &lease, &at}, func() error {
		found[held{prepaid.RequestID(id), lease}] = struct{}{}
		return nil
	})
	if err != nil {
		return nil, err
	}
	written := make([]*outcome, 0, len(list))
	for _, o := range list {
		if _, ok := found[held{o.after.RequestID, o.lease}]; ok {
			o.after.Changed = at.UTC()
			written = append(written, o)
		}
	}
	return written, nil
}

// settle calls settled for one entry. A panic is an error: the outcome must not be lost.
func settle(ctx context.Context, tx pgx.Tx, e journal.Entry, settled settledFunc) (err error) {
	ctx, cancel := context.WithTimeout(ctx, settledLimit)
	defer cancel()
	defer func() {
		if cause := recover(); cause != nil {
			err = &errSettled{err: fmt.Errorf("panic: %v", cause)}
		}
	}()
	if err := settled(ctx, settledTx{tx}, e); err != nil {
		return &errSettled{err: err}
	}
	if tx.Conn().PgConn().TxStatus() != 'T' {
		return &errSettled{err: errors.New("it ended its transaction, or ignored an error of it")}
	}
	return nil
}

// settledTx is the transaction that Settled gets: it does not end it.
type settledTx struct{ pgx.Tx }

var errNotYours = errors.New("prepaidpg: the store commits or rolls back the transaction of Settled")

// Commit fails.
func (settledTx) Commit(context.Context) error { return errNotYours }

// Rollback fails.
func (settledTx) Rollback(context.Context) error { return errNotYours }

// recorded returns those of list that an attempt to write them has written, although it failed: the connection broke during
// the commit.
func (s *Store) recorded(ctx context.Context, list []*outcome) ([]*outcome, error) {
	id, lease := make([]string, len(list)), make([]int64, len(list))
	for i, o := range list {
		id[i], lease[i] = string(o.after.RequestID), o.lease
	}
	rows, err := s.pool.Query(ctx, s.sql.recorded, id, lease)
	if err != nil {
		return nil, failure("record", err)
	}
	found, err := matching(rows, list)
	if err != nil {
		return nil, failure("record", err)
	}
	return found, nil
}

// recordLate records that the money of a payment moved which another worker has taken over. known is the transaction ID that
// was recorded already, if the payment was done. The error is journal.ErrNoPayment if the row is gone.
func (s *Store) recordLate(ctx context.Context, o *outcome, settled settledFunc) (known prepaid.TransactionID, err error) {
	e := &o.after
	err = s.transaction(ctx, settled != nil && !o.postponed, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, durable); err != nil {
			return err
		}
		var number int64
		err := tx.QueryRow(ctx, s.sql.late, e.RequestID, storable(string(e.TransactionID)), storable(e.CorrelationID), o.hookWait()).Scan(&number)
		if errors.Is(err, pgx.ErrNoRows) {
			var p payment
			err := p.scan(tx.QueryRow(ctx, s.sql.get, e.RequestID))
			if errors.Is(err, pgx.ErrNoRows) {
				return journal.ErrNoPayment
			} else if err != nil {
				return err
			}
			known = p.entry.TransactionID
			return nil
		}
		if err != nil || settled == nil || o.postponed {
			return err
		}
		return settle(ctx, tx, *e, settled)
	})
	return known, err
}
