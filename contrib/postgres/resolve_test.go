package prepaidpg

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

func (s testStore) resolve(id prepaid.RequestID, r journal.Resolution) error {
	return s.in(func(tx pgx.Tx) error { return s.Resolve(s.t.Context(), tx, id, r) })
}

func (s testStore) withdraw(id prepaid.RequestID) error {
	return s.in(func(tx pgx.Tx) error { return s.Withdraw(s.t.Context(), tx, id) })
}

func (s testStore) retry(id prepaid.RequestID) error {
	return s.in(func(tx pgx.Tx) error { return s.Retry(s.t.Context(), tx, id) })
}

func (s testStore) decide(id prepaid.RequestID, decision func(e journal.Entry, now time.Time) (journal.Entry, error)) error {
	return s.in(func(tx pgx.Tx) error { return s.DecideTx(s.t.Context(), tx, id, decision) })
}

// In each state, a person's decisions have the same effect as in journal.Entry.
func TestDecisionsAreThoseOfTheEntry(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	decisions := map[string]struct {
		store func(id prepaid.RequestID) error
		entry func(e journal.Entry) (journal.Entry, error)
	}{
		"moved": {
			func(id prepaid.RequestID) error { return s.resolve(id, journal.Moved("7")) },
			func(e journal.Entry) (journal.Entry, error) { return e.Resolve(time.Now(), journal.Moved("7")) },
		},
		"not moved": {
			func(id prepaid.RequestID) error { return s.resolve(id, journal.NotMoved()) },
			func(e journal.Entry) (journal.Entry, error) { return e.Resolve(time.Now(), journal.NotMoved()) },
		},
		"withdraw": {s.withdraw, func(e journal.Entry) (journal.Entry, error) { return e.Withdraw(time.Now()) }},
		"retry":    {s.retry, func(e journal.Entry) (journal.Entry, error) { return e.Retry(time.Now()) }},
		"decide": {
			func(id prepaid.RequestID) error { return s.decide(id, journal.Entry.Withdraw) },
			func(e journal.Entry) (journal.Entry, error) { return e.Withdraw(time.Now()) },
		},
	}
	for name, decision := range decisions {
		for _, state := range journal.States() {
			if name == "retry" && state == journal.StateWithdrawn {
				continue // the store has erased the params
			}
			params := transfer(name + string(state))
			s.enqueue(params)
			id := params.RequestID
			s.exec(`update prepaid.payments set state = $2, began = now() - interval '1 hour', runs = 3, attempts = 4,
				not_before = now() - interval '1 minute', last_sent = now() - interval '2 minutes', review = case when $2 = 'unknown' then 'reused' end,
				sealed = case when $2 not in ('done', 'withdrawn') then sealed end,
				due = case when $2 not in ('done', 'rejected', 'withdrawn', 'unknown') then now() end where request_id = $1`, id, string(state))
			before := s.entry(id)
			want, wantErr := decision.entry(before)
			err := decision.store(id)
			if wantErr != nil {
				require.ErrorContains(t, err, wantErr.Error(), "%s %s", name, state)
				want = before
			} else {
				require.NoError(t, err)
			}
			near(t, want, s.entry(id))
		}
	}
	require.ErrorIs(t, s.withdraw("nothing"), journal.ErrNoPayment)
	require.Error(t, s.resolve(transfer("moved"+string(journal.StateIntended)).RequestID, journal.Resolution{}))
}

// After Retry, a rejected payment is sent again with its params; a withdrawn payment has none.
func TestRetryAndWithdraw(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(2)
	refuse := true
	sender := &teller{}
	sender.reply = func(context.Context, prepaid.RequestID, time.Time) error {
		if refuse {
			return rejected()
		}
		return nil
	}
	require.NoError(t, s.runUntil(sender, Workers{N: 1}, s.are(journal.StateRejected, ids...)))
	require.Equal(t, prepaid.CodeInvalidRequest, s.entry(ids[0]).Code)
	refuse = false
	require.NoError(t, s.retry(ids[0]))
	require.NoError(t, s.withdraw(ids[1]))
	require.Equal(t, "1", text(t, s.pool, "select count(sealed)::text from prepaid.payments"))
	require.ErrorIs(t, s.retry(ids[1]), journal.ErrWithdrawn)
	require.ErrorIs(t, s.Decide(t.Context(), ids[1], journal.Entry.Retry), journal.ErrWithdrawn)
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, ids[0])))
	require.Equal(t, 1, sender.sendings(ids[1]))
	require.Equal(t, "enqueue:queued begin:intended end:rejected retry:not_sent begin:intended end:done", s.history(ids[0]))

	// A decision is part of the caller's transaction.
	third := transfer("third")
	s.enqueue(third)
	require.Error(t, s.in(func(tx pgx.Tx) error {
		require.NoError(t, s.Withdraw(t.Context(), tx, third.RequestID))
		return errors.New("rolled back")
	}))
	require.Equal(t, journal.StateQueued, s.entry(third.RequestID).State)
}

func TestStatsAllWaiting(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	var ids []prepaid.RequestID
	for i, id := range s.add(page + 20) {
		if i < 7 {
			s.exec(`update prepaid.payments set state = $2, sealed = case when $2 not in ('done', 'withdrawn') then sealed end,
				due = case when $2 not in ('done', 'rejected', 'withdrawn') then now() end where request_id = $1`, id, string(journal.States()[i]))
		}
		ids = append(ids, id)
	}
	s.exec("update prepaid.payments set review = 'reused', due = null, last_sent = now() - interval '2 hours', hook_due = now(), hook_tries = 1 where state = 'unknown'")
	require.Len(t, s.claims(&teller{rest: time.Minute}, 3), 3)
	stats, err := s.Stats(t.Context())
	require.NoError(t, err)
	require.Equal(t, page+20, stats.Queued.Count+stats.Intended.Count+stats.NotSent.Count+stats.Unknown.Count+stats.Done.Count+stats.Rejected.Count+stats.Withdrawn.Count)
	require.Equal(t, journal.Total{Count: 1, Sum: prepaid.MustAmount("10.00")}, stats.Done)
	require.Equal(t, 1, stats.Rejected.Count)
	require.Equal(t, 1, stats.Withdrawn.Count)
	require.Equal(t, 1, stats.Waiting)
	require.Equal(t, 1, stats.Unsettled)
	require.Equal(t, 3, stats.Held)
	require.InDelta(t, 2*time.Hour, stats.OldestUnknown, float64(time.Minute))
	require.InDelta(t, 30*time.Second, stats.OldestQueued, float64(30*time.Second))

	seen := 0
	last := prepaid.RequestID("")
	for e, err := range s.All(t.Context()) {
		require.NoError(t, err)
		require.Greater(t, e.RequestID, last)
		last = e.RequestID
		seen++
	}
	require.Equal(t, len(ids), seen)
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, err := range s.All(ctx) {
		require.ErrorIs(t, err, context.Canceled)
	}
}

// A payment waits since it was enqueued, also after it was given back. Its outcome is unknown since its first attempt, not its last.
func TestStatsAges(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	ids := s.add(2)
	s.exec("update prepaid.payments set state = 'not_sent', enqueued = now() - interval '5 hours' where request_id = $1", ids[0])
	s.exec(`update prepaid.payments set state = 'unknown', began = now() - interval '10 hours', first_sent = now() - interval '10 hours',
		last_sent = now() - interval '1 minute', runs = 100, due = now() + interval '1 minute' where request_id = $1`, ids[1])
	for range 2 {
		stats, err := s.Stats(t.Context())
		require.NoError(t, err)
		require.InDelta(t, 5*time.Hour, stats.OldestQueued, float64(time.Minute))
		require.InDelta(t, 10*time.Hour, stats.OldestUnknown, float64(time.Minute))
		s.exec("update prepaid.payments set due = null, review = 'too_old' where state = 'unknown'")
	}
}
