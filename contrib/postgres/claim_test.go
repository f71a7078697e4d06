package prepaidpg

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/journal"
)

// near reports whether two entries are equal, but for the time between two clocks.
func near(t *testing.T, want, got journal.Entry) {
	t.Helper()
	for _, times := range [][2]*time.Time{
		{&want.Began, &got.Began}, {&want.Changed, &got.Changed}, {&want.FirstSent, &got.FirstSent},
		{&want.LastSent, &got.LastSent}, {&want.NotBefore, &got.NotBefore},
	} {
		require.Equal(t, times[0].IsZero(), times[1].IsZero())
		require.WithinDuration(t, *times[0], *times[1], 2*time.Second)
		*times[0], *times[1] = time.Time{}, time.Time{}
	}
	require.Equal(t, want, got)
}

// The claim does to a row what journal.Entry.Begin does to an entry, in each state from which a payment can begin.
func TestClaimIsBegin(t *testing.T) {
	t.Parallel()
	for _, state := range journal.States() {
		t.Run(string(state), func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			id := s.add(1)[0]
			s.exec(`update prepaid.payments set state = $1, began = now() - interval '1 hour', runs = 3, attempts = 4, code = 'c', correlation_id = 'i',
				resolved = true, not_before = now() - interval '1 minute', last_sent = now() - interval '2 minutes',
				first_sent = now() - interval '3 minutes', sealed = case when $1 not in ('done', 'withdrawn') then sealed end,
				due = case when $1 not in ('done', 'rejected', 'withdrawn') then now() end`, string(state))
			before := s.entry(id)
			list, err := s.claim(t.Context(), &teller{rest: time.Second}, 5, time.Now())
			require.NoError(t, err)
			if !state.Pending() {
				require.Empty(t, list, "never claimed")
				near(t, before, s.entry(id))
				return
			}
			require.Len(t, list, 1)
			near(t, before, list[0].entry)
			run, err := before.Begin(time.Now(), time.Time{})
			require.NoError(t, err)
			near(t, run.Entry, s.entry(id))

			again, err := s.claim(t.Context(), &teller{}, 5, time.Now())
			require.NoError(t, err)
			require.Empty(t, again, "it is held")
		})
	}
}

// A payment that a dead worker held may have been sent until the worker could no longer send.
func TestClaimAfterADeadWorker(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	s.options.CallTimeout = 200 * time.Millisecond
	sender := &teller{rest: 50 * time.Millisecond}
	list, err := s.claim(t.Context(), sender, 1, time.Now())
	require.NoError(t, err)
	require.Len(t, list, 1)
	taken := time.Now()

	sender.reply = func(_ context.Context, _ prepaid.RequestID, lastSent time.Time) error {
		require.WithinDuration(t, taken.Add(list[0].term.sends), lastSent, 150*time.Millisecond)
		require.GreaterOrEqual(t, time.Since(taken), list[0].term.whole-20*time.Millisecond)
		return nil
	}
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, id)))
	require.Regexp(t, "^enqueue:queued begin:intended begin:unknown .*end:done$", s.history(id))
	require.Equal(t, 2, s.entry(id).Runs)
}

// The lease covers the call and the rest, whatever the sender's settings are; nobody can make it shorter.
func TestLeaseCoversTheRest(t *testing.T) {
	t.Parallel()
	for _, rest := range []time.Duration{0, time.Second, time.Hour} {
		l := safeLease(time.Minute, &teller{rest: rest})
		require.GreaterOrEqual(t, l.whole, l.wait+l.call+rest)
		require.Equal(t, l.sends, l.wait+l.call)
		require.InDelta(t, l.whole, l.sends+rest, float64(time.Millisecond))
	}
}

func TestLate(t *testing.T) {
	t.Parallel()
	l := lease{wait: time.Minute}
	now := time.Now()
	wall, before := now.Round(0), time.Minute+time.Second
	require.False(t, (&claimed{term: l, taken: now, wall: wall}).late())
	require.True(t, (&claimed{term: l, taken: now.Add(-before), wall: wall}).late(), "the wall clock was set back")
	require.True(t, (&claimed{term: l, taken: now, wall: wall.Add(-before)}).late(), "the machine was suspended")
}

// The commit of a claim and of an outcome waits for the disk, even where the database has switched that off, and works with
// unusual defaults of the session.
func TestClaimIsDurable(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{Settings: map[string]string{
		"synchronous_commit": "off", "wal_writer_delay": "10s", "autovacuum": "off", "default_transaction_isolation": "serializable",
	}})
	pool := server.NewPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	s := openStore(t, pool)
	behind := func() bool {
		return text(t, pool, "select (pg_current_wal_flush_lsn() < pg_current_wal_insert_lsn())::text") == "true"
	}
	ids := s.add(10)
	require.True(t, behind(), "what the caller commits is the caller's decision")
	list, err := s.claim(t.Context(), &teller{}, 5, time.Now())
	require.NoError(t, err)
	require.Len(t, list, 5)
	require.False(t, behind())

	var outcomes []*outcome
	for _, c := range list {
		going, err := c.entry.Begin(time.Now(), time.Time{})
		require.NoError(t, err)
		after, err := going.End(time.Now(), &prepaid.TransferResult{TransactionID: "7"}, nil)
		require.NoError(t, err)
		outcomes = append(outcomes, &outcome{claimed: c, after: after, event: eventEnd})
	}
	s.add(12)
	require.True(t, behind())
	written, err := s.record(t.Context(), outcomes[:2], nil)
	require.NoError(t, err)
	require.Len(t, written, 2)
	require.False(t, behind())
	s.add(14)
	require.True(t, behind())
	_, err = pool.Exec(t.Context(), "create table books (request_id text)")
	require.NoError(t, err)
	s.add(16)
	written, err = s.record(t.Context(), outcomes[2:], writeTestBooks)
	require.NoError(t, err)
	require.Len(t, written, 3)
	require.False(t, behind())

	require.NoError(t, server.Kill())
	require.NoError(t, server.Restart(t.Context()))
	for _, o := range outcomes {
		require.Eventually(t, func() bool {
			e, err := s.Get(t.Context(), o.after.RequestID)
			return err == nil && e.State == journal.StateDone
		}, 5*time.Second, 10*time.Millisecond)
	}
	require.Len(t, ids, 10)
}

// A server that can lose what it has committed is refused.
func TestOpenRefusesAnUnsafeServer(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{NoSync: true})
	pool := server.NewPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	options := testOptions(t)
	_, err := Open(t.Context(), pool, options)
	require.ErrorIs(t, err, ErrUnsafeServer)
	options.Unsafe = true
	_, err = Open(t.Context(), pool, options)
	require.NoError(t, err)
}

func TestOpenChecks(t *testing.T) {
	t.Parallel()
	_, err := Open(t.Context(), nil, Options{Schema: "Über", CallTimeout: time.Millisecond})
	var invalid *prepaid.ValidationError
	require.ErrorAs(t, err, &invalid)
	require.Len(t, invalid.Faults, 5)
	_, err = Open(t.Context(), emptyPool(t), testOptions(t))
	require.ErrorIs(t, err, ErrSchemaOld)

	pool, err := pgxpool.New(t.Context(), "host=/nowhere")
	require.NoError(t, err)
	defer pool.Close()
	_, err = Open(t.Context(), pool, testOptions(t))
	require.Error(t, err)
}
