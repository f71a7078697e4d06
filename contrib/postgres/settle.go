package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
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
	recorded chan string     // request IDs of outcomes that this process recorded: these need no search
	groups   chan []string   // of recorded
	due      chan struct{}   // a search may find an outcome to settle
	stopping <-chan struct{} // closed when no more outcomes are recorded
}

// Record marks the outcomes for which Settled is to be called.
func (h *settler) Record(ctx context.Context, ends []journal.End) ([]journal.Recorded, error) {
	recorded, err := h.record(ctx, ends, true)
	for _, end := range ends {
		if !end.Final() {
			continue
		}
		select {
		case h.recorded <- string(end.Entry.RequestID):
		default:
			pause.Wake(h.due)
		}
	}
	return recorded, err
}

// run calls Settled until no more outcomes are recorded and none is due, or until ctx ends.
func (h *settler) run(ctx context.Context) {
	wait, group, failures := time.Duration(0), mostSettled, 0 // a wait of 0 means a search
	var since time.Time                                       // of wait
	for ctx.Err() == nil {
		groups, stopping := h.groups, h.stopping
		if failures > 0 {
			groups, stopping = nil, nil
		}
		var ids []string // if nil, settle searches
		stops := false
		if wait > 0 {
			select {
			case ids = <-groups:
			case <-time.After(time.Until(since.Add(wait))): // also while groups arrive
			case <-h.due:
			case <-stopping:
				stops = true
			case <-ctx.Done():
				return
			}
		}
		var n int
		var err error
		if ids == nil {
			since = time.Now()
		}
		n, group, err = h.settle(ctx, ids, group)
		switch {
		case err != nil:
			h.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: the store of the payments failed", slog.String("error", err.Error()))
			if h.workers.Trace.Failed != nil {
				guard.Hook(h.log, "Failed", func() { h.workers.Trace.Failed(err) })
			}
			failures++
			since, wait = time.Now(), min(firstWait<<min(failures-1, 5), databaseLimit)
			continue
		case n == 0 && stops:
			return
		case n > 0 && (ids == nil || group == 1):
			wait = 0
		case ids == nil:
			wait = settlePoll
		}
		failures = 0
	}
}

// collect makes groups of recorded outcomes. While all transactions are busy, a group grows.
func (h *settler) collect() {
	for {
		var ids []string
		select {
		case id := <-h.recorded:
			time.Sleep(gather)
			for ids = append(ids, id); len(ids) < mostSettled && len(h.recorded) > 0; {
				ids = append(ids, <-h.recorded)
			}
		case <-h.stopping: // then searches find all
			return
		}
		select {
		case h.groups <- ids:
		case <-h.stopping:
		}
	}
}

// settle calls Settled in one transaction until the calls get slow: for those of ids or, if ids is nil, for at most limit outcomes that it
// finds. It returns how many outcomes were due, and the next limit. If a call or the commit fails, nothing was written: the failed call is
// repeated later, and the next transactions are small.
func (h *settler) settle(ctx context.Context, ids []string, limit int) (n, next int, err error) {
	ctx, cancel := context.WithTimeoutCause(ctx, databaseLimit, errDatabaseLimit)
	defer cancel()
	t := &settling{settler: h, calls: make(chan func())}
	defer t.close(ctx)
	go func() { // one for all calls: its stack grows once
		for call := range t.calls {
			call()
		}
	}()
	defer close(t.calls)
	entries, err := t.begin(ctx, ids, limit)
	if err != nil || len(entries) == 0 {
		return 0, limit, pause.Cause(ctx, err)
	}
	if ids == nil {
		pause.Wake(h.due) // wakes another run: there may be more work
	}
	began := time.Now()
	called := len(entries)
	for i, e := range entries {
		if i > 0 && time.Since(began) > slowSettled {
			called = i
			break
		}
		if err = t.call(ctx, e); err != nil {
			return len(entries), 1, h.later(ctx, t, e, err)
		}
	}
	if called < len(entries) { // other runs can settle the rest after the commit
		defer pause.Wake(h.due)
	}
	switch err = pause.Cause(ctx, t.end(ctx, madeSQL, requestIDs(entries[:called]))); {
	case err == nil:
		return len(entries), min(2*called, mostSettled), nil
	case called > 1: // any of these calls may be the cause
		return len(entries), 1, nil
	}
	return len(entries), 1, h.later(ctx, t, entries[0], err)
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
		if err == nil && t.end(ctx, hookLaterSQL, arguments...) == nil {
			return nil
		}
	}
	t.close(ctx)
	_, err := h.pool.Exec(ctx, h.sql.Replace(hookLaterSQL), arguments...)
	return failure("settle", pause.Cause(ctx, err))
}

type settling struct {
	*settler

	calls chan func()
	conn  *pgxpool.Conn // nil after close
	tx    pgx.Tx
}

// begin returns outcomes to settle, locked. It omits those that another transaction is settling.
func (t *settling) begin(ctx context.Context, ids []string, limit int) (entries []journal.Entry, err error) {
	if t.conn, err = t.pool.Acquire(ctx); err != nil {
		return nil, failure("settle", err)
	}
	statement, argument := hooksSQL, any(limit)
	if ids != nil {
		statement, argument = theseHooksSQL, ids
	}
	batch := &pgx.Batch{}
	batch.Queue(indexed)
	batch.Queue(t.sql.Replace(statement), argument).Query(func(rows pgx.Rows) (err error) {
		entries, err = pgx.CollectRows(rows, collectEntry)
		return err
	})
	batch.Queue(unplanned) // for the statements of Settled
	batch.Queue("savepoint calls")
	t.tx, err = t.conn.Conn().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err == nil {
		err = t.tx.SendBatch(ctx, batch).Close()
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

// end commits the transaction of Settled with one more statement.
func (t *settling) end(ctx context.Context, statement string, arguments ...any) error {
	batch := &pgx.Batch{}
	batch.Queue(indexed) // Settled may have changed what is durable
	batch.Queue(t.sql.Replace(statement), arguments...)
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

// call calls Settled for one outcome, in another goroutine: a call that does not return is abandoned. An error ends the calls.
func (t *settling) call(ctx context.Context, e journal.Entry) error {
	ctx, cancel := context.WithTimeoutCause(ctx, settledLimit, errSettledLimit)
	defer cancel()
	ended := make(chan error, 1)
	t.calls <- func() {
		var err error
		guard.Then(func() { err = t.workers.Settled(ctx, settledTx{t.tx}, e) }, func(failure *guard.Error) {
			if failure != nil {
				err = fmt.Errorf("prepaidpg: Settled: %w", failure)
			}
			ended <- err
		})
	}
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
