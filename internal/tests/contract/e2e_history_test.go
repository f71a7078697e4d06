package contract

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Items that exist at the beginning are read once, and the iteration ends, though its reader adds an item for each.
func TestE2ETransactionsWhileMoreComeIn(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		id := s.seed("0")
		for range 6 {
			s.Adjust(id, "1.00")
		}
		first := s.Transactions(id)
		seen := map[prepaid.TransactionID]bool{}
		params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2}}
		for item, err := range s.client.Accounts.Transactions(t.Context(), id, params) {
			require.NoError(t, err)
			require.False(t, seen[item.ID])
			seen[item.ID] = true
			s.Adjust(id, "1.00")
		}
		for _, item := range first {
			require.True(t, seen[item.ID])
		}
	})
}

// A page that does not exist is bad input: ErrNotFound is only for accounts.
func TestE2ETransactionsPageBeyondTheLast(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		id := s.seed("1.00")
		params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Page: 2}}
		_, err := s.client.Accounts.TransactionsPage(t.Context(), id, params)
		require.NotErrorIs(t, refused(t, err, 400, "invalid_request"), prepaid.ErrNotFound)
		_, err = s.client.Accounts.TransactionsPage(t.Context(), "nobody", params)
		require.ErrorIs(t, refused(t, err, 404, "account_not_found"), prepaid.ErrNotFound)
	})
}

// Histories are complete, movements are found and Check reports the difference, however far the service's clock is ahead or
// behind, in both sort orders.
func TestE2EHistoryOfAnotherClock(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for _, ahead := range []time.Duration{-30 * 24 * time.Hour, -3 * time.Minute, 0, 500 * time.Millisecond, time.Hour, 31 * 24 * time.Hour} {
			for _, newest := range []bool{false, true} {
				s := newStage(t, prepaidtest.Options{StartAt: time.Now().Add(ahead), NewestTransactionsFirst: newest})
				id := s.seed("100.00")
				for range 9 {
					s.Adjust(id, "1.00")
				}
				for _, prefetch := range []int{0, 2} {
					first, seen := s.Transactions(id), map[prepaid.TransactionID]int{}
					params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: prefetch}}
					for item, err := range s.client.Accounts.Transactions(t.Context(), id, params) {
						require.NoError(t, err)
						if seen[item.ID]++; len(seen) < 6 {
							s.Adjust(id, "1.00")
						}
					}
					for _, item := range first {
						require.Equal(t, 1, seen[item.ID], "ahead %v newest %v prefetch %v", ahead, newest, prefetch)
					}
				}

				check, err := s.client.Check(t.Context())
				require.NoError(t, err)
				require.InDelta(t, ahead, check.ClockSkew, float64(2*time.Second))

				s.Inject("POST /funding/redemptions", prepaidtest.CommitThenDrop())
				params := redemption(id, "25.50")
				_, err = s.client.Funding.Redeem(t.Context(), params)
				require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
				_, err = s.client.Accounts.FindMovement(t.Context(), prepaid.FindMovementParams{
					AccountID: id, Amount: params.Amount, VisibleWithin: time.Second,
				}.Around(err))
				require.NoError(t, err, "ahead %v", ahead)
			}
		}
	})
}
