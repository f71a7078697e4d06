package prepaidpg

import (
	"context"
	"regexp"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal"
)

// counter counts the queries and batches sent to Postgres.
type counter struct{ atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.Add(1)
	return ctx
}

func (c *counter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// counted opens the store of s with a pool of its own that is counted.
func counted(s testStore) (testStore, *counter) {
	counts, config := &counter{}, s.pool.Config()
	config.ConnConfig.Tracer = counts
	pool, err := pgxpool.NewWithConfig(s.t.Context(), config)
	require.NoError(s.t, err)
	s.t.Cleanup(pool.Close)
	return openStore(s.t, pool), counts
}

// An empty queue costs a few small queries a second, and a new payment is paid soon.
func TestIdleWorkers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	worker, counts := counted(s)
	stop := worker.start(&teller{}, Workers{Settled: func(context.Context, pgx.Tx, journal.Entry) error { return nil }})
	defer stop()
	time.Sleep(time.Second)
	before, began := counts.Load(), time.Now()
	time.Sleep(2 * time.Second)
	require.LessOrEqual(t, counts.Load()-before, int64(9*time.Since(began).Seconds()), "nine in a second")
	params := transfer("soon")
	s.enqueue(params)
	pace := startPace(t)
	require.Eventually(t, s.are(journal.StateDone, params.RequestID), time.Minute, 2*time.Millisecond)
	pace.within(5 * time.Second)
}

// A due payment that another transaction has locked does not make the workers spin.
func TestLockedPayment(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Withdraw(t.Context(), tx, id))
	worker, counts := counted(s)
	stop := worker.start(&teller{}, Workers{})
	defer stop()
	time.Sleep(time.Second)
	require.Less(t, counts.Load(), int64(20))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Eventually(t, s.are(journal.StateDone, id), time.Minute, 5*time.Millisecond)
}

// If a transaction prevents the removal of any number of claimed payments, an idle claim still reads few pages.
func TestIdleClaimUnderALongTransaction(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	long, err := s.pool.BeginTx(t.Context(), pgx.TxOptions{IsoLevel: pgx.RepeatableRead})
	require.NoError(t, err)
	defer func() { _ = long.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = long.Exec(t.Context(), "select count(*) from prepaid.payments") // its snapshot
	require.NoError(t, err)
	for range 3 {
		s.exec(`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due)
			select 'r' || n, 'Accounts.Transfer', 'EA1', 1, '', '', '', 'queued', now() from generate_series(1, 3000) n`)
		s.exec(`update prepaid.payments set due = now() + interval '1 minute'`)
		s.exec(`delete from prepaid.payments`)
	}
	whole := s.claimReads()
	time.Sleep(horizonMargin)
	require.Empty(t, s.claims(&teller{}, 20))
	s.horizon.whole, s.horizon.admitted = time.Now(), time.Time{}
	bounded := s.claimReads()
	t.Logf("%d pages instead of %d", bounded, whole)
	require.Less(t, bounded, whole/20)
}

// What a claim of the whole index saw is not forgotten because another claim ends later.
func TestClaimsAtTheSameTimeKeepTheHorizon(t *testing.T) {
	t.Parallel()
	h, now := &horizon{}, time.Now()
	_, whole := h.from(time.Time{})
	_, other := h.from(time.Time{})
	h.saw(whole, now.Add(-time.Hour))
	h.saw(other, now)
	require.Equal(t, now.Add(-time.Hour), h.first)
	_, next := h.from(time.Time{})
	h.saw(next, now)
	require.Equal(t, now, h.first)
}

// claimReads returns how many pages a claim reads.
func (s testStore) claimReads() int {
	s.t.Helper()
	tx, err := s.pool.Begin(s.t.Context())
	require.NoError(s.t, err)
	defer func() { _ = tx.Rollback(s.t.Context()) }()
	_, err = tx.Exec(s.t.Context(), indexed)
	require.NoError(s.t, err)
	from, _ := s.horizon.from(time.Time{})
	rows, _ := tx.Query(s.t.Context(), "explain (analyze, buffers) "+s.sql.Replace(claimSQL), pgx.QueryExecModeSimpleProtocol, // the error is that of rows
		s.epoch.Load(), 20, int64(1), int64(1), time.Time{}, from)
	lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(s.t, err)
	found := regexp.MustCompile(`Buffers: shared hit=(\d+)`).FindStringSubmatch(strings.Join(lines, "\n"))
	require.NotNil(s.t, found)
	n, err := strconv.Atoi(found[1])
	require.NoError(s.t, err)
	return n
}

// While the service is down, a claim reads none of the payments that wait for its response, also without statistics.
func TestClaimWhileTheServiceIsDown(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("alter table prepaid.payments set (autovacuum_enabled = false)")
	var pages []int
	for _, n := range []int{1_000, 9_000} {
		s.exec(`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due)
			select gen_random_uuid(), 'Accounts.Transfer', 'EA1', 1, '', '', '', 'unknown', now() - n * interval '1 second' from generate_series(1, $1) n`, n)
		s.horizon = horizon{}
		pages = append(pages, s.claimReads())
	}
	t.Log(pages)
	require.Less(t, pages[1], pages[0]+20)
}

// Plans that Postgres keeps read no whole table, even if made before there were statistics.
func TestKeptPlansUseIndexes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	for name, c := range map[string]struct {
		settings, statement string
		arguments           int
	}{
		"claim":       {indexed, claimSQL, 6},
		"outcome":     {impatient, outcomeSQL, 3},
		"hooks":       {indexed, hooksSQL, 1},
		"these hooks": {indexed, theseHooksSQL, 1},
		"made":        {indexed, madeSQL, 1},
		"hook later":  {indexed, hookLaterSQL, 3},
		"enqueue":     {"select", insertOneSQL, 10},
		"batch":       {"select", insertSQL, 10},
	} {
		tx, err := s.pool.Begin(t.Context())
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "set local plan_cache_mode = force_generic_plan")
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), s.sql.Replace(c.settings))
		require.NoError(t, err)
		_, err = tx.Exec(t.Context(), "prepare kept as "+s.sql.Replace(c.statement))
		require.NoError(t, err)
		rows, _ := tx.Query(t.Context(), "explain execute kept ("+strings.Repeat("null, ", c.arguments-1)+"null)") // the error is that of rows
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		require.NotContains(t, strings.Join(lines, "\n"), "Seq Scan", name)
		_, err = tx.Exec(t.Context(), "deallocate kept")
		require.NoError(t, err)
		require.NoError(t, tx.Rollback(t.Context()))
	}
}

// A payment whose transaction took longer is found, although later payments were claimed before its commit.
func TestSlowEnqueueIsPaid(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	slow := transfer("slow")
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Enqueue(t.Context(), tx, "EA1", slow))
	stop := s.start(&teller{}, Workers{})
	defer stop()
	time.Sleep(horizonMargin + wholeEvery/2)
	s.enqueue(transfer("later"))
	require.Eventually(t, s.are(journal.StateDone, transfer("later").RequestID), time.Minute, 5*time.Millisecond)
	require.NoError(t, tx.Commit(t.Context()))
	require.Eventually(t, s.are(journal.StateDone, slow.RequestID), time.Minute, 5*time.Millisecond)
}

// Enqueue sends no notification: Postgres commits transactions with notifications one after the other.
func TestEnqueueDoesNotNotify(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	conn, err := s.pool.Acquire(t.Context())
	require.NoError(t, err)
	defer conn.Release()
	_, err = conn.Exec(t.Context(), "listen prepaid_payments")
	require.NoError(t, err)
	s.add(1)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	_, err = conn.Conn().WaitForNotification(ctx)
	require.ErrorIs(t, err, context.DeadlineExceeded)
}
