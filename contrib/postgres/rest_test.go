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
