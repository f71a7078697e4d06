package prepaidpg

import (
	"context"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

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
