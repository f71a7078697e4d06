package prepaidpg

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A resting payment is sent after its rest. If it is given back meanwhile, the rest does not begin again.
func TestGivingBackDoesNotBeginTheRestAgain(t *testing.T) {
	t.Parallel()
	const rest = 3 * time.Second
	s := newStore(t)
	s.options.CallTimeout = 20 * time.Millisecond
	id := s.add(1)[0]
	sender := &teller{rest: rest}
	require.Len(t, s.claims(sender, 1), 1) // its worker dies
	time.Sleep(rest + 100*time.Millisecond)
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Resolve(t.Context(), tx, id, journal.NotMoved()) }))
	require.NoError(t, s.in(func(tx pgx.Tx) error { return s.Retry(t.Context(), tx, id) }))
	s.options.CallTimeout = 5 * time.Second
	pace := startPace(t)
	require.NoError(t, s.runUntil(sender, Workers{}, s.are(journal.StateDone, id)))
	pace.within(2 * rest)
}

// A payment that was not sent is sent when it is due, also by an idle worker that looked while another held it.
func TestIdleWorkerSendsAgainInTime(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.options.CallTimeout = 2 * time.Minute
	id := s.add(1)[0]
	var calls atomic.Int32
	pace := startPace(t)
	require.NoError(t, s.runUntil(&teller{reply: func(context.Context, prepaid.RequestID, time.Time) error {
		if calls.Add(1) == 1 {
			return notProcessed()
		}
		return nil
	}}, Workers{N: 1}, s.are(journal.StateDone, id)))
	pace.within(10 * time.Second)
}

// Workers that live for a shorter time than a payment must rest go on with the wait of the workers before them, and send the same bytes,
// also the further members.
func TestWaitGoesOnInTheNextWorker(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	emulator := prepaidtest.NewServer(t, prepaidtest.Options{Lenient: true})
	from, to := emulator.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), emulator.AddAccount(prepaidtest.SeedAccount{})
	emulator.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	params := transfer("a")
	params.DestinationAccountID = to
	for _, enqueued := range []struct {
		extra prepaid.ExtraMembers
		want  error
	}{{`{"purpose": "x", "a": 1}`, nil}, {`{"a":1,"purpose":"x"}`, nil}, {`{"a":2,"purpose":"x"}`, journal.ErrChanged}, {"", journal.ErrChanged}} {
		params.Extra = enqueued.extra
		require.ErrorIs(t, s.in(func(tx pgx.Tx) error { return s.Enqueue(t.Context(), tx, from, params) }), enqueued.want)
	}
	done := s.are(journal.StateDone, params.RequestID)
	config := emulator.Config()
	config.AttemptTimeout, config.Retry.InFlightWait = 2*time.Second, 500*time.Millisecond
	for range 40 { // about eight suffice on an idle machine
		client, err := prepaid.NewClient(config)
		require.NoError(t, err)
		end := time.Now().Add(2200 * time.Millisecond)
		require.NoError(t, s.runUntil(client.Accounts, Workers{Grace: time.Millisecond}, func() bool { return done() || time.Now().After(end) }))
		require.NoError(t, client.Close())
		if done() {
			break
		}
	}
	require.True(t, done())
	require.Empty(t, emulator.PaidTwice())
	bodies := map[string]bool{}
	for _, r := range emulator.Requests() {
		if r.RequestID != "" {
			bodies[r.Body] = true
			require.Contains(t, r.Body, `,"a":1,"purpose":"x"}`)
		}
	}
	require.Len(t, bodies, 1)
}
