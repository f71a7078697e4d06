//go:build unix

package prepaidpg

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Workers run on while an asynchronous standby is promoted, as under a cluster manager. They end with an error, and send nothing from the
// promoted server: its payments are as before claims that it lacks.
func TestWorkersRunOnAcrossAFailover(t *testing.T) {
	t.Parallel()
	f := newFailoverTest(t, failoverTakes)
	pool := f.primary.NewPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	f.standby = startStandby(t, f.primary)
	here := pool.Config().ConnConfig
	address, err := pgx.ParseConfig(f.standby.URL())
	require.NoError(t, err)
	f.promoted = poolAt(t, "postgres:///"+here.Database+"?user="+here.User+"&host="+address.Host)
	both := "postgres:///" + here.Database + "?user=" + here.User + "&host=" + here.Host + "," + address.Host + "&target_session_attrs=read-write"

	first := f.open(pool)
	const many = 100
	var ids []prepaid.RequestID
	for i := range many {
		params := transfer("")
		params.RequestID = prepaid.RequestID(fmt.Sprintf("%s-%d", fast, i))
		ids = append(ids, params.RequestID)
		first.enqueue(params)
	}
	f.add(first, time.Time{}, slow)
	ids = append(ids, failoverIDs(slow)...)
	copied := testStore{&Store{pool: f.promoted}, t}
	f.await("the standby has the payments", copied.are(journal.StateQueued, ids...))
	_, err = f.promoted.Exec(t.Context(), "alter system set primary_conninfo = ''")
	require.NoError(t, err)
	_, err = f.promoted.Exec(t.Context(), "select pg_reload_conf()")
	require.NoError(t, err)
	f.await("the standby is cut off", func() bool { return text(t, f.promoted, "select count(*)::text from pg_stat_wal_receiver") == "0" })

	const workers = 3
	ended := make(chan error, workers)
	for range workers {
		s := f.open(poolAt(t, both))
		go func() { ended <- s.Run(t.Context(), f.sender(), Workers{N: 10, Claim: 10}) }()
	}
	f.await("slow payments are sent", func() bool { return f.requests(slow) >= some })
	require.NoError(t, f.primary.Kill())
	require.Equal(t, "true", text(t, f.promoted, "select pg_promote()::text"))
	for range workers {
		select {
		case err := <-ended:
			require.ErrorIs(t, err, journal.ErrFailover)
			require.ErrorContains(t, err, "Store.Recover")
		case <-time.After(time.Minute):
			t.Fatal("a worker runs on")
		}
	}
	require.Equal(t, "0", text(t, f.promoted, "select count(*)::text from prepaid.history where event = 'begin'"), "claims on the promoted server")

	s := f.open(f.promoted)
	n, err := s.Recover(context.WithoutCancel(t.Context()))
	require.NoError(t, err)
	require.Positive(t, n)
	f.pay(s, ids...)
	count := f.bank.Count()
	f.prompt()
	require.Empty(t, count.Twice)
	require.Equal(t, len(ids), count.Paid)
	t.Logf("%d paid, %d requests, %d pending after the failover", count.Paid, count.Requests, n)
}

// A worker that began before Recover stops, even if it finds the server again: the payments that it holds count as sent.
func TestEarlierWorkersStopAfterRecover(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	earlier := openStore(t, s.pool)
	s.add(3)
	require.Len(t, earlier.claims(&teller{}, 1), 1)
	_, err := s.Recover(t.Context())
	require.NoError(t, err)
	s.exec("update prepaid.payments set due = now()")
	_, err = earlier.Claim(t.Context(), journal.Claim{N: 3, Admitted: time.Now().Add(time.Hour)})
	require.ErrorIs(t, err, journal.ErrFailover)
	require.Equal(t, "0", text(t, s.pool, "select count(*)::text from prepaid.history where event = 'begin' and at > (select max(at) from prepaid.history where event = 'recover')"))
	require.Len(t, s.claims(&teller{}, 3), 3, "it begins after Recover")
	_, err = earlier.Claim(t.Context(), journal.Claim{N: 3})
	require.ErrorIs(t, err, journal.ErrFailover, "another Run of the same store does not begin it again")
	earlier.begin()
	require.Empty(t, earlier.claims(&teller{}, 3), "it begins again")
}

// Another server's system identifier or timeline is noticed in the claim, and when an outcome is recorded.
func TestAnotherServer(t *testing.T) {
	t.Parallel()
	for _, server := range []string{"replace(server, ' ', '1 ')", "left(server, -1) || '2'", "null"} {
		t.Run(server, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			s.add(3)
			list := s.claims(&teller{}, 2)
			var ends []journal.End
			for _, h := range list {
				ends = append(ends, s.ended(h, &prepaid.TransferResult{TransactionID: "7"}, nil))
			}
			s.exec("update prepaid.versions set server = " + server + " where version = 2")
			tx, err := s.pool.Begin(t.Context())
			require.NoError(t, err)
			defer func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }()
			_, err = tx.Exec(t.Context(), "select from prepaid.payments where request_id = $1 for update", string(list[0].Entry.RequestID))
			require.NoError(t, err)
			recorded, err := s.Record(t.Context(), ends)
			require.ErrorIs(t, err, journal.ErrFailover)
			require.Equal(t, []journal.Recorded{{Locked: true}, {Written: true}}, recorded)
			require.NoError(t, tx.Rollback(t.Context()))
			recorded, err = s.Record(t.Context(), ends)
			require.ErrorIs(t, err, journal.ErrFailover)
			require.Equal(t, []journal.Recorded{{Written: true}, {Written: true}}, recorded)
			require.Equal(t, journal.StateDone, s.entry(list[0].Entry.RequestID).State)
			for range 2 {
				_, err = s.Claim(t.Context(), journal.Claim{N: 3, Admitted: time.Now()})
				require.ErrorIs(t, err, journal.ErrFailover)
			}
			require.Equal(t, "1", text(t, s.pool, "select count(*)::text from prepaid.payments where state = 'queued'"))
		})
	}
}
