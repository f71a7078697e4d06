package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// settler calls Workers.Settled for the outcomes that are recorded.
type settler struct {
	*Store

	workers  Workers
	calls    horizon         // of the calls that are due
	due      chan struct{}   // there is an outcome to settle
	stopping <-chan struct{} // closed when no more outcomes are recorded
	slow     atomic.Bool     // the last calls were slow
}

// Record marks the outcomes for which Settled is to be called.
func (h *settler) Record(ctx context.Context, ends []journal.End) ([]journal.Recorded, error) {
	recorded, err := h.record(ctx, ends, true)
	if slices.ContainsFunc(ends, journal.End.Final) {
		pause.Wake(h.due)
	}
	return recorded, err
}

// run calls Settled until no more outcomes are recorded and none is due, or until ctx ends. If spare is set, run does
// so only while calls are slow: with fewer runs, more quick calls share a transaction.
func (h *settler) run(ctx context.Context, spare bool) {
	for group, failures := mostSettled, 0; ctx.Err() == nil; {
		stops := false
		select {
		case <-h.stopping:
			stops = true
		default:
		}
		n := 0
		var err error
		slow := h.slow.Load()
		timer, due, woken := settlePoll, h.due, h.stopping
		if !spare || slow { // slow calls, and retries after a failure, can leave outcomes before the horizon
			n, group, err = h.settle(ctx, group, stops || slow || group == 1)
		} else {
			timer, due = firstWait, nil
		}
		switch {
		case err != nil:
			h.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: the store of the payments failed", slog.String("error", err.Error()))
			if h.workers.Trace.Failed != nil {
				guard.Hook(h.log, "Failed", func() { h.workers.Trace.Failed(err) })
			}
			failures++
			timer, woken = min(firstWait<<min(failures-1, 5), databaseLimit), nil
		case n > 0:
			failures = 0
			continue
		case stops:
			return
		}
		select {
		case <-time.After(timer):
		case <-due:
		case <-woken:
		case <-ctx.Done():
		}
	}
}

// settle calls Settled for at most limit outcomes in one transaction until the calls get slow. It returns how many outcomes were due,
// and the next limit. If a call or the commit fails, nothing was written: the failed call is repeated later, and the other outcomes then
// get a transaction each. If whole is set, settle reads the whole index.
func (h *settler) settle(ctx context.Context, limit int, whole bool) (n, next int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, databaseLimit, errDatabaseLimit)
	defer cancel()
	t := &settling{settler: h}
	defer t.close(ctx)
	entries, err := t.begin(ctx, limit, whole)
	if err != nil || len(entries) == 0 {
		return 0, limit, pause.Cause(ctx, err)
	}
	pause.Wake(h.due) // wakes another run: there may be more work
	n = len(entries)
	began := time.Now()
	isSlow := func() bool { return time.Since(began) > slowSettled }
	defer func() { h.slow.Store(isSlow()) }()
	for i, e := range entries {
		if i > 0 && isSlow() { // other runs can settle the rest after the commit
			h.slow.Store(true)
			entries = entries[:i]
			break
		}
		if err = t.call(ctx, e); err != nil {
			return n, 1, h.later(ctx, t, e, err)
		}
	}
	switch err = pause.Cause(ctx, t.commit(ctx, requestIDs(entries))); {
	case err == nil:
		return n, min(2*len(entries), mostSettled), nil
	case len(entries) > 1: // any of these calls may be the cause
		return n, 1, nil
	}
	return n, 1, h.later(ctx, t, entries[0], err)
}

func requestIDs(entries []journal.Entry) []string {
	ids := make([]string, len(entries))
	for i, e := range entries {
		ids[i] = string(e.RequestID)
	}
	return ids
}

// later schedules another call of Settled for e. Only SettledFailed gets the error, because its text may be private.
func (h *settler) later(ctx context.Context, t *settling, e journal.Entry, why error) error {
	h.log.LogAttrs(ctx, slog.LevelError, "prepaid: Settled failed; it is called again later", slog.String("request_id", string(e.RequestID)),
		slog.Bool("abandoned", errors.Is(why, errAbandoned)))
	if h.workers.SettledFailed != nil {
		guard.Hook(h.log, "SettledFailed", func() { h.workers.SettledFailed(e, why) })
	}
	time.AfterFunc(2*firstWait, func() { pause.Wake(h.due) })
	ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), databaseLimit, errDatabaseLimit) // Settled may have used up ctx
	defer cancel()
	arguments := []any{e.RequestID, firstWait.Microseconds(), longestWait.Microseconds()}
	if t.open() { // the row must stay locked: otherwise another worker calls Settled at once
		_, err := t.conn.Exec(ctx, "rollback to savepoint calls") // first: a failed transaction prepares no statement
		batch := &pgx.Batch{}
		batch.Queue(h.sql.Replace(hookLaterSQL), arguments...)
		batch.Queue("commit").Exec(committed)
		if err == nil && t.conn.SendBatch(ctx, batch).Close() == nil {
			return nil
		}
	}
	t.close(ctx)
	_, err := h.pool.Exec(ctx, h.sql.Replace(hookLaterSQL), arguments...)
	return failure("settle", pause.Cause(ctx, err))
}

type settling struct {
	*settler

	conn *pgxpool.Conn // nil after close
	tx   pgx.Tx
}

// begin returns outcomes to settle, locked. It omits those that another transaction is settling.
func (t *settling) begin(ctx context.Context, limit int, whole bool) (entries []journal.Entry, err error) {
	if t.conn, err = t.pool.Acquire(ctx); err != nil {
		return nil, failure("settle", err)
	}
	from := t.calls.from(time.Time{})
	if whole {
		from = nil
	}
	var due, now time.Time
	batch := &pgx.Batch{}
	batch.Queue(t.sql.Replace(planned)).QueryRow(func(row pgx.Row) error { return row.Scan(nil, nil, nil, at(&now)) })
	batch.Queue(t.sql.Replace(hooksSQL), limit, from).Query(func(rows pgx.Rows) (err error) {
		entries, err = pgx.CollectRows(rows, func(row pgx.CollectableRow) (e journal.Entry, err error) {
			var hookDue time.Time
			err = scan(row, &e, at(&hookDue))
			if due.IsZero() || hookDue.Before(due) {
				due = hookDue
			}
			return e, err
		})
		return err
	})
	batch.Queue(unplanned) // for the statements of Settled
	batch.Queue("savepoint calls")
	t.tx, err = t.conn.Conn().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err == nil {
		err = t.tx.SendBatch(ctx, batch).Close()
	}
	if err == nil {
		if len(entries) < limit { // nothing else is due
			due = now
		}
		t.calls.saw(due)
	}
	return entries, failure("settle", err)
}

func (t *settling) open() bool {
	if t.conn == nil {
		return false
	}
	pg := t.conn.Conn().PgConn()
	return !pg.IsClosed() && !pg.IsBusy() && pg.TxStatus() != 'I'
}

// commit commits the transaction of Settled, with the mark that it has been called.
func (t *settling) commit(ctx context.Context, ids []string) error {
	batch := &pgx.Batch{}
	batch.Queue(durable)
	batch.Queue(t.sql.Replace(planned))
	batch.Queue(t.sql.Replace(settledHooksSQL), ids)
	batch.Queue("commit").Exec(committed)
	return t.conn.SendBatch(ctx, batch).Close()
}

// close gives the connection back to the pool, which closes it if it is in a transaction.
func (t *settling) close(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if t.open() {
		ctx, cancel := context.WithTimeoutCause(context.WithoutCancel(ctx), time.Second, errDatabaseLimit)
		defer cancel()
		_ = t.tx.Rollback(ctx)
	}
	t.conn.Release()
	t.conn = nil
}

var (
	errAbandoned     = errors.New("prepaidpg: Settled did not return when its context had ended")
	errSettledLimit  = fmt.Errorf("prepaidpg: Settled took longer than %s", settledLimit)
	errDatabaseLimit = fmt.Errorf("prepaidpg: the transaction took longer than %s", databaseLimit)
	errNotYours      = errors.New("prepaidpg: the store commits or rolls back the transaction of Settled")
)

// call calls Settled for one outcome, in its own goroutine: a call that does not return is abandoned.
func (t *settling) call(ctx context.Context, e journal.Entry) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settledLimit, errSettledLimit)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		ended <- guard.Do("prepaidpg: Settled", func() error { return t.workers.Settled(ctx, settledTx{t.tx}, e) })
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(abandonAfter):
			// The call's later statements fail, and its transaction is rolled back.
			_ = t.conn.Hijack().PgConn().Conn().Close()
			t.conn = nil
			return errAbandoned
		}
	}
	if err != nil {
		return pause.Cause(ctx, err)
	}
	if pg := t.conn.Conn().PgConn(); pg.TxStatus() != 'T' || pg.IsBusy() {
		return errors.New("prepaidpg: Settled ended its transaction, ignored an error of it, or did not close its rows")
	}
	return nil
}

// settledTx is Settled's transaction: Settled cannot end it.
type settledTx struct{ pgx.Tx }

func (settledTx) Commit(context.Context) error { return errNotYours }

func (settledTx) Rollback(context.Context) error { return errNotYours }
