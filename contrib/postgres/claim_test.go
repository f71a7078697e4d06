package prepaidpg

import (
	"context"
	"crypto/rand"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/webhook"
)

// near reports whether two entries are equal, except for the difference of clocks.
func near(t *testing.T, want, got journal.Entry) {
	t.Helper()
	for _, times := range [][2]*time.Time{
		{&want.Began, &got.Began}, {&want.Changed, &got.Changed}, {&want.FirstSent, &got.FirstSent},
		{&want.LastSent, &got.LastSent}, {&want.NotBefore, &got.NotBefore},
	} {
		require.Equal(t, times[0].IsZero(), times[1].IsZero())
		require.WithinDuration(t, *times[0], *times[1], 20*time.Second)
		*times[0], *times[1] = time.Time{}, time.Time{}
	}
	require.Equal(t, want, got)
}

// In each state that allows it, a claim changes a row as journal.Entry.Begin changes an entry.
func TestClaimIsBegin(t *testing.T) {
	t.Parallel()
	for _, state := range journal.States() {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id := s.add(1)[0]
			s.exec(`update prepaid.payments set state = $1, changed = now() - interval '1 hour', began = now() - interval '1 hour', runs = 3, attempts = 4, code = 'c', correlation_id = 'i',
				resolved = true, not_before = now() - interval '1 minute', last_sent = now() - interval '2 minutes',
				first_sent = now() - interval '3 minutes', sealed = case when $1 not in ('done', 'withdrawn') then sealed end,
				due = case when $1 not in ('done', 'rejected', 'withdrawn') then now() end`, string(state))
			before := s.entry(id)
			list := s.claims(&teller{rest: time.Second}, 5)
			if !state.Pending() {
				require.Empty(t, list, "never claimed")
				near(t, before, s.entry(id))
				return
			}
			require.Len(t, list, 1)
			require.NotEmpty(t, list[0].Entry.Sealed)
			list[0].Entry.Sealed = nil
			near(t, before, list[0].Entry)
			run, err := before.Begin(time.Now())
			require.NoError(t, err)
			near(t, run.Entry, s.entry(id))

			require.Empty(t, s.claims(&teller{}, 5), "it is held")
		})
	}
}

// The commit of a claim and of an outcome waits for the disk, even if the database has switched that off, and works with
// unusual defaults of the session.
func TestClaimIsDurable(t *testing.T) {
	t.Parallel()
	server, pool := ownServer(t, map[string]string{
		"synchronous_commit": "off", "wal_writer_delay": "10s", "autovacuum": "off", "wal_level": "minimal", "max_wal_senders": "0",
		"default_transaction_isolation": "serializable",
	})
	s := openStore(t, pool)
	behind := func() bool {
		return text(t, pool, "select (pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn())::text") == "true"
	}
	added := 8
	falls := func() { // what the caller commits is the caller's decision
		t.Helper()
		for until := added + 100; ; { // the WAL writer may be at work at this moment
			added += 2
			s.add(added)
			if behind() {
				return
			}
			require.Less(t, added, until)
		}
	}
	falls()
	list := s.claims(&teller{}, 5)
	require.Len(t, list, 5)
	require.False(t, behind())

	var ends []journal.End
	for _, h := range list {
		ends = append(ends, s.ended(h, &prepaid.TransferResult{TransactionID: "7"}, nil))
	}
	falls()
	_, err := s.record(t.Context(), ends, true)
	require.NoError(t, err)
	require.False(t, behind())
	falls()
	_, err = pool.Exec(t.Context(), "create table books (request_id text)")
	require.NoError(t, err)
	falls()
	h := &settler{Store: s.Store, workers: Workers{Settled: writeTestBooks}}
	due, _, err := h.settle(t.Context(), nil, mostSettled)
	require.NoError(t, err)
	require.Equal(t, 5, due)
	require.False(t, behind())
	messages := newClaims(t, pool, webhook.ClaimOptions{Timeout: time.Minute})
	for _, end := range []func(webhook.Claim) error{
		func(c webhook.Claim) error { return c.Release(t.Context()) }, func(c webhook.Claim) error { return c.Done(t.Context()) },
	} {
		falls()
		c := claimedID(t, messages, "message", time.Minute, webhook.ClaimWon)
		require.False(t, behind())
		falls()
		require.NoError(t, end(c))
		require.False(t, behind())
	}

	require.NoError(t, server.Kill())
	require.NoError(t, server.Restart(t.Context()))
	for _, end := range ends {
		require.Eventually(t, func() bool {
			e, err := s.Get(t.Context(), end.Entry.RequestID)
			return err == nil && e.State == journal.StateDone
		}, time.Minute, 10*time.Millisecond)
	}
	claimedID(t, messages, "message", time.Minute, webhook.ClaimDone)
}

// A server that can lose commits is refused.
func TestOpenRefusesAnUnsafeServer(t *testing.T) {
	t.Parallel()
	_, pool := ownServer(t, map[string]string{"fsync": "off"})
	options := testOptions(t)
	_, err := Open(t.Context(), pool, options)
	require.ErrorIs(t, err, ErrUnsafeServer)
	options.Unsafe = true
	_, err = Open(t.Context(), pool, options)
	require.NoError(t, err)
}

// A role from which row-level security could hide payments is refused: its workers would be idle without an error.
func TestOpenRefusesRowSecurity(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	role := "worker_" + strings.ToLower(rand.Text())
	run := func(statement string) {
		_, err := pool.Exec(context.WithoutCancel(t.Context()), statement)
		require.NoError(t, err)
	}
	run("create role " + role + " login; grant usage on schema prepaid to " + role + "; grant all on all tables in schema prepaid to " + role)
	t.Cleanup(func() { run("drop owned by " + role + "; drop role " + role) })
	address := pool.Config().ConnString() + "&options=-crole%3D" + role
	for _, table := range []string{"payments", "history", "archive", "versions"} {
		run("alter table prepaid." + table + " enable row level security")
		_, err := Open(t.Context(), poolAt(t, address), testOptions(t))
		require.ErrorIs(t, err, ErrRowSecurity, table)
		run("alter table prepaid." + table + " disable row level security")
	}
	run("alter table prepaid.payments enable row level security; alter role " + role + " bypassrls")
	openStore(t, poolAt(t, address))
}

func TestOpenChecks(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), nil, Options{Schema: "Über"})
	var invalid *prepaid.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Faults, 4)
	_, err = Open(t.Context(), emptyPool(t), testOptions(t))
	require.ErrorIs(t, err, ErrSchemaOld)

	pool, err := pgxpool.New(t.Context(), "host=/nowhere")
	require.NoError(t, err)
	defer pool.Close()
	_, err = Open(t.Context(), pool, testOptions(t))
	require.Error(t, err)
}
