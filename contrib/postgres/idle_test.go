package prepaidpg

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/journal"
)

// counter counts what is sent to Postgres.
type counter struct{ queries, batches atomic.Int64 }

func (c *counter) TraceQueryStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceQueryStartData) context.Context {
	c.queries.Add(1)
	return ctx
}

func (c *counter) TraceQueryEnd(context.Context, *pgx.Conn, pgx.TraceQueryEndData) {}

func (c *counter) TraceBatchStart(ctx context.Context, _ *pgx.Conn, _ pgx.TraceBatchStartData) context.Context {
	c.batches.Add(1)
	return ctx
}

func (c *counter) TraceBatchQuery(context.Context, *pgx.Conn, pgx.TraceBatchQueryData) {}

func (c *counter) TraceBatchEnd(context.Context, *pgx.Conn, pgx.TraceBatchEndData) {}

// Idle workers wait for a notification, and not for a poll: an empty queue costs a few queries a minute, and what is enqueued is paid at
// once, also after the connection that listens was lost.
func TestIdleWorkers(t *testing.T) {
	t.Parallel()
	first := newPool(t)
	s := openStore(t, first)
	counts := &counter{}
	config := first.Config().Copy()
	config.ConnConfig.Tracer = counts
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	worker := openStore(t, pool)
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	var lost atomic.Int64
	go func() {
		result <- worker.Run(ctx, &teller{}, Workers{Settled: func(context.Context, pgx.Tx, journal.Entry) error { return nil }, Trace: Trace{Failed: func(error) { lost.Add(1) }}})
	}()
	defer func() {
		cancel()
		require.NoError(t, <-result)
	}()
	listens := func() bool {
		return text(t, first, "select count(*)::text from pg_stat_activity where datname = current_database() and query like 'listen%'") == "1"
	}
	require.Eventually(t, listens, 5*time.Second, 10*time.Millisecond)
	time.Sleep(200 * time.Millisecond)

	before := counts.queries.Load() + counts.batches.Load()
	time.Sleep(2 * time.Second)
	require.LessOrEqual(t, counts.queries.Load()+counts.batches.Load()-before, int64(2), "in 2 s")

	pays := func(key string) {
		params := transfer(key)
		began := time.Now()
		s.enqueue(params)
		require.Eventually(t, s.are(journal.StateDone, params.RequestID), 5*time.Second, 2*time.Millisecond)
		require.Less(t, time.Since(began), poll/10, "it was notified")
	}
	pays("notified")
	s.exec("select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and query like 'listen%'")
	require.Eventually(t, func() bool { return lost.Load() > 0 && listens() }, 5*time.Second, 10*time.Millisecond)
	pays("after the connection was lost")
}

// A payment that is due but locked by a transaction of somebody else does not make the workers spin.
func TestLockedPayment(t *testing.T) {
	t.Parallel()
	first := newPool(t)
	s := openStore(t, first)
	id := s.add(1)[0]
	tx, err := first.Begin(t.Context())
	require.NoError(t, err)
	require.NoError(t, s.Withdraw(t.Context(), tx, id))

	counts := &counter{}
	config := first.Config().Copy()
	config.ConnConfig.Tracer = counts
	pool, err := pgxpool.NewWithConfig(t.Context(), config)
	require.NoError(t, err)
	defer pool.Close()
	ctx, cancel := context.WithCancel(t.Context())
	result := make(chan error, 1)
	sender := &teller{}
	go func() { result <- openStore(t, pool).Run(ctx, sender, Workers{}) }()
	time.Sleep(time.Second)
	require.Less(t, counts.queries.Load()+counts.batches.Load(), int64(40))
	require.NoError(t, tx.Rollback(t.Context()))
	require.Eventually(t, s.are(journal.StateDone, id), 10*time.Second, 5*time.Millisecond)
	cancel()
	require.NoError(t, <-result)
}
