package prepaidpg

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Rows that a transaction of the program has locked delay no other outcome. Their own outcome is recorded after the unlock.
func TestLockedRowsHoldUpNoOtherOutcome(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(200)
	locks, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = locks.Rollback(context.Background()) }()
	calls := 0
	sender := &teller{reply: func(_ context.Context, id prepaid.RequestID, _ time.Time) (err error) {
		if calls++; calls <= 2 {
			_, err = locks.Exec(t.Context(), "select from prepaid.payments where request_id = $1 for update", id)
		}
		return err
	}}
	var recorded atomic.Int64
	stop := s.start(sender, Workers{N: 1, Trace: journal.Trace{Recorded: func(journal.Entry) { recorded.Add(1) }}})
	require.Eventually(t, func() bool { return recorded.Load() == 198 }, time.Minute, 10*time.Millisecond)
	require.NoError(t, locks.Rollback(t.Context()))
	require.Eventually(t, s.are(journal.StateDone, ids...), time.Minute, 10*time.Millisecond)
	stop()
	require.Len(t, sender.sent, 200, "none was sent again")
}

// A decision that is refused because a worker holds the payment locks nothing.
func TestRefusedDecisionLocksNothing(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	held := s.claims(&teller{}, 1)
	tx, err := s.pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = tx.Rollback(context.Background()) }()
	require.ErrorIs(t, s.Withdraw(t.Context(), tx, id), journal.ErrUnderWay)
	require.ErrorIs(t, s.Withdraw(t.Context(), tx, "another"), journal.ErrNoPayment)
	recorded, err := s.Record(t.Context(), []journal.End{s.ended(held[0], nil, errors.New("unknown"))})
	require.NoError(t, err)
	require.Equal(t, []journal.Recorded{{Written: true}}, recorded)
}

// While the database is down, an ending Run calls it rarely, and ends.
func TestStopWithoutADatabase(t *testing.T) {
	t.Parallel()
	server, pool := ownServer(t, nil)
	s := openStore(t, pool)
	var failed atomic.Int64
	stop := s.start(&teller{}, Workers{
		Grace: 3 * time.Second, Settled: writeTestBooks, Trace: journal.Trace{Failed: func(error) { failed.Add(1) }},
	})
	time.Sleep(500 * time.Millisecond)
	require.NoError(t, server.Kill())
	stop()
	require.Less(t, failed.Load(), int64(100))
}

// Settled runs with the session's own settings, and slow calls run concurrently.
func TestSlowSettled(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec("create table books (request_id text)")
	ids := s.add(20)
	var side, most atomic.Int64
	began := time.Now()
	require.NoError(t, s.runUntil(&teller{}, Workers{Settled: func(ctx context.Context, tx pgx.Tx, e journal.Entry) error {
		for n := side.Add(1); n > most.Load(); {
			most.Store(n)
		}
		defer side.Add(-1)
		var scans, sorts string
		if err := tx.QueryRow(ctx, "select current_setting('enable_seqscan'), current_setting('enable_sort')").Scan(&scans, &sorts); err != nil {
			return err
		}
		if scans != "on" || sorts != "on" {
			t.Error("the planner is restricted")
		}
		sleepFor(ctx, 300*time.Millisecond)
		return writeTestBooks(ctx, tx, e)
	}}, func() bool { return text(t, s.pool, "select count(distinct request_id)::text from books") == "20" }))
	require.Greater(t, most.Load(), int64(1), "calls run side by side")
	t.Logf("%d calls in %s, %d side by side", len(ids), time.Since(began), most.Load())
}
