package prepaidpg

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/journal"
)

// settler calls Workers.Settled for the outcomes that are recorded.
type settler struct {
	*Store

	workers  Workers
	due      chan struct{} // there is an outcome to settle
	stopping chan struct{} // closed when no more outcomes are recorded

	mu       sync.Mutex
	recorded []string  // outcomes of this process; Postgres would have to search for them
	search   time.Time // when to search for other outcomes
}

// Record marks the outcomes for which Settled is to be called.
func (h *settler) Record(ctx context.Context, ends []journal.End) ([]journal.Recorded, error) {
	recorded, err := h.record(ctx, ends, true)
	if err != nil {
		return nil, err
	}
	h.mu.Lock()
	for i, end := range ends {
		if end.Final() && recorded[i].Written && len(h.recorded) < mostRecorded {
			h.recorded = append(h.recorded, string(end.Entry.RequestID))
		}
	}
	h.mu.Unlock()
	h.wake()
	return recorded, nil
}

func (h *settler) wake() {
	select {
	case h.due <- struct{}{}:
	default:
	}
}

// next returns outcomes to settle: at most n of this process, or nil if it is time to search for others. ok is false if there is nothing
// to do.
func (h *settler) next(n int) (ids []string, ok bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n = min(n, len(h.recorded))
	ids, h.recorded = h.recorded[:n:n], h.recorded[n:]
	if n > 0 {
		return ids, true
	}
	if !h.stops() && time.Now().Before(h.search) {
		return nil, false
	}
	h.search = time.Now().Add(settlePoll)
	return nil, true
}

// stops reports whether no more outcomes are recorded.
func (h *settler) stops() bool {
	select {
	case <-h.stopping:
		return true
	default:
		return false
	}
}

// searchIn has others searched for after d, at the latest.
func (h *settler) searchIn(d time.Duration) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if at := time.Now().Add(d); at.Before(h.search) {
		h.search = at
	}
}

// run calls Settled until no more outcomes are recorded and none is due, or until ctx ends.
func (h *settler) run(ctx context.Context) {
	for ctx.Err() == nil {
		ids, ok := h.next(settleGroup)
		if !ok {
			h.sleep(ctx, firstWait)
			continue
		}
		if len(ids) == settleGroup {
			h.wake() // there may be work for another
		}
		found, err := h.settle(ctx, ids)
		switch {
		case err != nil:
			h.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: the store of the payments failed", slog.Any("error", err))
			if h.workers.Trace.Failed != nil {
				h.workers.Trace.Failed(err)
			}
			h.sleep(ctx, time.Second)
		case found > 0 && len(ids) == 0: // there may be more
			h.searchIn(0)
		case found == 0 && len(ids) == 0 && h.stops():
			return
		}
	}
}

// sleep waits for d, an outcome, or the end.
func (h *settler) sleep(ctx context.Context, d time.Duration) {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-h.due:
	case <-h.stopping:
	case <-ctx.Done():
	}
}

// settle calls Settled for outcomes, or for some that it searches for if ids is nil, in one transaction, and returns how many were due.
// If that cannot be committed, each has a transaction of its own. After a failure nothing was committed; the outcome that is its cause
// is due again later, the others at once.
func (h *settler) settle(parent context.Context, ids []string) (found int, err error) {
	ctx, cancel := context.WithTimeout(parent, databaseLimit)
	defer cancel()
	conn, err := h.pool.Acquire(ctx)
	if err != nil {
		return 0, failure("settle", err)
	}
	t := &settling{settler: h, conn: conn}
	defer t.close(ctx)
	entries, err := t.begin(ctx, ids)
	if err != nil || len(entries) == 0 {
		return 0, err
	}
	began := time.Now()
	done := make([]string, 0, len(entries))
	for _, e := range entries {
		if time.Since(began) > settledLimit/2 { // the others are next
			break
		}
		if err := t.call(ctx, e); err != nil {
			return len(entries), h.later(ctx, t, e, err)
		}
		done = append(done, string(e.RequestID))
	}
	err = t.commit(ctx, done)
	if err == nil {
		return len(entries), nil
	}
	if len(done) == 1 {
		return len(entries), h.later(ctx, t, entries[0], err)
	}
	t.close(ctx)
	for i := range done { // any of them may be the cause
		if _, err := h.settle(parent, done[i:i+1]); err != nil {
			return len(entries), err
		}
	}
	return len(entries), nil
}

// later has the call of Settled for e repeated. The text of its error may contain anything, so only SettledFailed gets it.
func (h *settler) later(ctx context.Context, t *settling, e journal.Entry, why error) error {
	h.log.LogAttrs(ctx, slog.LevelError, "prepaid: Settled failed; it is called again later", slog.String("request_id", string(e.RequestID)),
		slog.Bool("abandoned", errors.Is(why, errAbandoned)))
	if h.workers.SettledFailed != nil {
		h.workers.SettledFailed(e, why)
	}
	h.searchIn(2 * firstWait)
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseLimit) // Settled may have used up the other
	defer cancel()
	arguments := []any{e.RequestID, firstWait.Microseconds(), longestWait.Microseconds()}
	if t.open() { // before the row is unlocked, or another worker calls at once
		_, err := t.conn.Exec(ctx, "rollback to savepoint calls") // first: no statement is prepared in a transaction that has failed
		batch := &pgx.Batch{}
		batch.Queue(h.sql.Replace(hookLaterSQL), arguments...)
		batch.Queue("commit").Exec(committed)
		if err == nil && t.conn.SendBatch(ctx, batch).Close() == nil {
			return nil
		}
	}
	t.close(ctx)
	if _, err := h.pool.Exec(ctx, h.sql.Replace(hookLaterSQL), arguments...); err != nil {
		return failure("settle", err)
	}
	return nil
}

// settling is one transaction with calls of Settled.
type settling struct {
	*settler

	conn *pgxpool.Conn // nil once it is closed
	tx   pgx.Tx
}

// begin returns the outcomes to settle, locked.
func (t *settling) begin(ctx context.Context, ids []string) (entries []journal.Entry, err error) {
	batch := &pgx.Batch{}
	batch.Queue(planned)
	query, argument := hooksDueSQL, any(settleGroup)
	if ids != nil {
		query, argument = hooksOfSQL, ids
	}
	batch.Queue(t.sql.Replace(query), argument).Query(func(rows pgx.Rows) (err error) {
		entries, err = pgx.CollectRows(rows, collectEntry)
		return err
	})
	batch.Queue("savepoint calls")
	t.tx, err = t.conn.Conn().BeginTx(ctx, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite})
	if err == nil {
		err = t.tx.SendBatch(ctx, batch).Close()
	}
	if err != nil {
		return nil, failure("settle", err)
	}
	return entries, nil
}

// open reports whether the transaction can go on.
func (t *settling) open() bool {
	if t.conn == nil {
		return false
	}
	pg := t.conn.Conn().PgConn()
	return !pg.IsClosed() && !pg.IsBusy() && pg.TxStatus() != 'I'
}

// commit commits what was written, with the mark that Settled has been called.
func (t *settling) commit(ctx context.Context, ids []string) error {
	batch := &pgx.Batch{}
	batch.Queue(durable)
	batch.Queue(t.sql.Replace(hookDoneSQL), ids)
	batch.Queue("commit").Exec(committed)
	return t.conn.SendBatch(ctx, batch).Close()
}

// close gives the connection back to the pool, which closes it if it is in a transaction.
func (t *settling) close(ctx context.Context) {
	if t.conn == nil {
		return
	}
	if t.open() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), time.Second)
		defer cancel()
		_ = t.tx.Rollback(ctx)
	}
	t.conn.Release()
	t.conn = nil
}

var (
	errGoexit    = errors.New("prepaidpg: Settled called runtime.Goexit")
	errAbandoned = errors.New("prepaidpg: Settled did not return when its context had ended")
	errNotYours  = errors.New("prepaidpg: the store commits or rolls back the transaction of Settled")
)

// call calls Settled for one outcome, in a goroutine of its own: one that does not return is abandoned.
func (t *settling) call(ctx context.Context, e journal.Entry) error {
	ctx, cancel := context.WithTimeout(ctx, settledLimit)
	defer cancel()
	ended := make(chan error, 1)
	go func() {
		err := errGoexit
		defer func() {
			if cause := recover(); cause != nil {
				err = fmt.Errorf("panic: %v", cause)
			}
			ended <- err
		}()
		err = t.workers.Settled(ctx, settledTx{t.tx}, e)
	}()
	var err error
	select {
	case err = <-ended:
	case <-ctx.Done():
		select {
		case err = <-ended:
		case <-time.After(abandonAfter):
			// What it may still do fails, and its transaction is rolled back.
			_ = t.conn.Hijack().PgConn().Conn().Close()
			t.conn = nil
			return errAbandoned
		}
	}
	if err != nil {
		return err
	}
	if pg := t.conn.Conn().PgConn(); pg.TxStatus() != 'T' || pg.IsBusy() {
		return errors.New("prepaidpg: Settled ended its transaction, ignored an error of it, or did not close its rows")
	}
	return nil
}

// settledTx is the transaction that Settled gets: it does not end it.
type settledTx struct{ pgx.Tx }

// Commit fails.
func (settledTx) Commit(context.Context) error { return errNotYours }

// Rollback fails.
func (settledTx) Rollback(context.Context) error { return errNotYours }
