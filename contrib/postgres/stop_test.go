package prepaidpg

import (
	"context"
	"math/rand/v2"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// If Run is stopped in any way, no claim remains: it gives unsent payments back.
func TestStopLeavesNothingClaimed(t *testing.T) {
	t.Parallel()
	s := newStore(t)
	s.exec(`insert into prepaid.payments (request_id, operation, account_id, amount, destination, params, sealed, state, due)
		select 'r' || n, 'Accounts.Transfer', 'EA1', 1, '', '', '', 'queued', now() from generate_series(1, 3000) n`)
	stops, left := 0, 0
	for range 40 {
		ctx, cancel := context.WithCancel(t.Context())
		claims := 0
		w := Workers{N: 4, Claim: 4, Trace: journal.Trace{Claimed: func(int) {
			if claims++; claims == 3 {
				time.AfterFunc(time.Duration(rand.IntN(4000))*time.Microsecond, cancel)
			}
		}}}
		require.NoError(t, s.Run(ctx, &teller{}, w))
		cancel()
		stops++
		var n int
		require.NoError(t, s.pool.QueryRow(t.Context(), "select count(*) from prepaid.payments where sends_until is not null").Scan(&n))
		if n > 0 {
			left++
			s.exec("update prepaid.payments set sends_until = null, due = now(), state = 'queued' where sends_until is not null")
		}
		s.exec("update prepaid.payments set due = now() where due is not null")
	}
	t.Logf("%d of %d stops left payments claimed", left, stops)
	require.Zero(t, left)
}

// While the service is down, payments of unknown outcome slow the workers down like others.
func TestServiceDownWithUnknownPayments(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"queued", "unknown"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			s := newStore(t)
			ids := s.add(200)
			if state == "unknown" {
				s.exec(`update prepaid.payments set state = 'unknown', began = now(), last_sent = now() - interval '1 hour', not_before = now() - interval '1 hour', runs = 1`)
			}
			var sent atomic.Int32
			ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
			defer cancel()
			require.NoError(t, s.Run(ctx, &teller{reply: func(context.Context, prepaid.RequestID, time.Time) error {
				sent.Add(1)
				return notProcessed()
			}}, Workers{N: 10}))
			t.Logf("%d payments, %d calls of a service that is down in 5 s", len(ids), sent.Load())
			require.Less(t, sent.Load(), int32(150))
		})
	}
}
