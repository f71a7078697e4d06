package prepaidpg

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Recover changes only pending payments.
func TestRecoverStates(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	pending := 0
	for i, state := range journal.States() {
		params := transfer(string(state))
		s.enqueue(params)
		s.exec(`update prepaid.payments set state = $2, due = case when $3 then due end, changed = '2026-01-01', last_sent = '2026-01-01',
			resolved = true, lease = $4, sealed = case when $2 in ('done', 'withdrawn') then null else sealed end where request_id = $1`,
			string(params.RequestID), string(state), state.Pending(), i)
		if state.Pending() {
			pending++
		}
	}
	n, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, pending, n)
	for i, state := range journal.States() {
		id := transfer(string(state)).RequestID
		e := s.entry(id)
		row := text(t, s.pool, "select concat_ws(' ', lease > $2::bigint, due = sends_until, due > now()) from prepaid.payments where request_id = $1", id, i)
		if !state.Pending() {
			require.Equal(t, state, e.State)
			require.Equal(t, 2026, e.Changed.Year())
			require.Equal(t, time.January, e.LastSent.Month(), state)
			require.True(t, e.Resolved, state)
			require.Equal(t, "f", row, state)
			require.Equal(t, "enqueue:queued", s.history(id), state)
			continue
		}
		require.Equal(t, journal.StateUnknown, e.State)
		require.WithinDuration(t, time.Now(), e.LastSent, time.Minute, state)
		require.Equal(t, e.LastSent, e.NotBefore, state)
		require.False(t, e.Began.IsZero(), state)
		require.Equal(t, time.January, e.FirstSent.Month(), "a lost run may have sent it since")
		require.False(t, e.Resolved, state)
		require.Equal(t, "t t t", row, state)
		require.Equal(t, "enqueue:queued recover:unknown", s.history(id))
		err := s.in(func(tx pgx.Tx) error { return s.Resolve(t.Context(), tx, id, journal.NotMoved()) })
		require.ErrorIs(t, err, journal.ErrUnderWay, "an earlier worker may still send it")
	}
}

// No worker claims a payment before earlier workers can no longer send it, and then it rests.
func TestRecoverWaitsForTheOldWorkers(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.options.CallTimeout = time.Second
	id := s.add(1)[0]
	// A worker with a longer time limit than this store claimed it, and the standby has the commit.
	s.exec("update prepaid.payments set state = 'intended', sends_until = now() + interval '1 hour', due = now() + interval '2 hours'")
	_, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, "t t", text(t, s.pool, "select concat_ws(' ', sends_until > now() + interval '59 minutes', due > now() + interval '119 minutes') from prepaid.payments"))
	s.exec("update prepaid.payments set sends_until = null, due = now()")
	before := time.Now()
	_, err = s.Recover(t.Context())
	require.NoError(t, err)
	sender := &teller{rest: time.Second}
	require.NoError(t, s.runUntil(sender, Workers{}, func() bool { return sender.sendings(id) > 0 }))
	require.GreaterOrEqual(t, time.Since(before), s.options.CallTimeout*3/2+sender.rest)
}

// A worker that claimed before Recover cannot end the lease, but records that the money moved.
func TestRecoverFencesOldOutcomes(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(2)
	list := s.claims(&teller{}, 2)
	_, err := s.Recover(t.Context())
	require.NoError(t, err)
	recorded, err := s.Record(t.Context(), []journal.End{
		s.ended(list[0], &prepaid.TransferResult{TransactionID: "7"}, nil), s.ended(list[1], nil, rejected()),
	})
	require.NoError(t, err)
	require.Equal(t, []journal.Recorded{{Overtaken: true, Written: true}, {Overtaken: true}}, recorded)
	require.Equal(t, journal.StateDone, s.entry(list[0].Entry.RequestID).State)
	require.Equal(t, journal.StateUnknown, s.entry(list[1].Entry.RequestID).State)
	require.Len(t, ids, 2)
}

// Payments that wait for a person still wait, and count as sent until the failover.
func TestRecoverKeepsReviews(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	id := s.add(1)[0]
	s.exec("update prepaid.payments set state = 'unknown', review = 'too_old', due = null, last_sent = '2026-01-01'")
	n, err := s.Recover(t.Context())
	require.NoError(t, err)
	require.Equal(t, 1, n)
	e := s.entry(id)
	require.Equal(t, journal.ReviewTooOld, e.Review)
	require.WithinDuration(t, time.Now(), e.LastSent, time.Minute)
	require.Empty(t, s.claims(&teller{}, 1))
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Resolve(t.Context(), tx, id, journal.Moved("7")) }))
}
