package e2e

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// october is 24 hours before the end of October in Sydney, in UTC.
var october = time.Date(2026, time.October, 30, 13, 0, 0, 0, time.UTC)

// history makes an account with one item at each of the offsets from october: the first adds 1.00, the next 2.00.
func (s *stage) history(offsets ...time.Duration) prepaid.AccountID {
	s.t.Helper()
	id := s.seed("0")
	for i, offset := range offsets {
		s.Advance(october.Add(offset).Sub(s.Now()))
		s.Adjust(id, prepaid.Cents(int64(100*(i+1))).String())
	}
	return id
}

func amounts(t *testing.T, s *stage, id prepaid.AccountID, params prepaid.ListTransactionsParams) []string {
	t.Helper()
	found := []string{}
	for item, err := range s.client.Accounts.Transactions(t.Context(), id, params) {
		require.NoError(t, err)
		found = append(found, item.Amount.String())
	}
	return found
}

// Every field of a history item arrives.
func TestE2ETransactionFields(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("100.00")
	params := redemption(id, "25.50")
	made, err := s.client.Funding.Redeem(t.Context(), params)
	require.NoError(t, err)
	_, err = s.client.Funding.Reverse(t.Context(), reversal(params, made.TransactionID))
	require.NoError(t, err)
	page, err := s.client.Accounts.TransactionsPage(t.Context(), id, prepaid.ListTransactionsParams{})
	require.NoError(t, err)
	kept := s.Transactions(id)
	require.Len(t, page.Items, len(kept))
	for i, want := range kept {
		require.Equal(t, prepaid.Transaction{
			ID: want.ID, ParentID: want.ParentID, AccountID: id,
			Type: prepaid.TransactionType(want.Type), TypeDescription: want.Description,
			Amount: prepaid.MustAmount(want.Amount), AmountCurrency: "AUD", FeeAmount: prepaid.MustAmount(want.Fee), FeeAmountCurrency: "AUD",
			RunningBalance: prepaid.MustAmount(want.RunningBalance), RunningBalanceCurrency: "AUD",
			OccurredAt: want.OccurredAt.Truncate(time.Second), CardAcceptorID: want.CardAcceptorID, TerminalID: want.TerminalID,
			AcquirerID: want.AcquirerID, MerchantCategoryCode: prepaid.MCC(want.MerchantCategoryCode), Reference: want.Reference,
		}, page.Items[i])
	}
	require.Equal(t, "QUICKMART", page.Items[1].CardAcceptorID)
	require.Equal(t, page.Items[1].ID, page.Items[2].ParentID)
}

// Both bounds of the service are inclusive, to the second; Before excludes the last second.
func TestE2ETransactionWindow(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{StartAt: october.AddDate(0, 0, -1), FrozenClock: true})
	id := s.history(-time.Second, 0, 12*time.Hour, 24*time.Hour-time.Second, 24*time.Hour)
	end := october.Add(24 * time.Hour)
	sydney := time.FixedZone("AEDT", 11*60*60)
	for name, c := range map[string]struct {
		params prepaid.ListTransactionsParams
		want   []string
	}{
		"to":     {prepaid.ListTransactionsParams{From: october, To: end}, []string{"2.00", "3.00", "4.00", "5.00"}},
		"before": {prepaid.ListTransactionsParams{From: october, Before: end}, []string{"2.00", "3.00", "4.00"}},
		"zone": {prepaid.ListTransactionsParams{
			From: time.Date(2026, time.October, 31, 0, 0, 0, 0, sydney), Before: time.Date(2026, time.November, 1, 0, 0, 0, 0, sydney),
		}, []string{"2.00", "3.00", "4.00"}},
		"until": {prepaid.ListTransactionsParams{Before: october}, []string{"1.00"}},
		"one":   {prepaid.ListTransactionsParams{From: end, To: end}, []string{"5.00"}},
		"none":  {prepaid.ListTransactionsParams{From: end.Add(time.Second), To: end.AddDate(0, 1, 0)}, []string{}},
		"prefetch": {prepaid.ListTransactionsParams{
			From: october, Before: end, Paging: prepaid.Paging{Size: 1, Prefetch: 4},
		}, []string{"2.00", "3.00", "4.00"}},
		"from page": {prepaid.ListTransactionsParams{From: october, To: end, Paging: prepaid.Paging{Size: 2, Page: 2}}, []string{"4.00", "5.00"}},
	} {
		require.Equal(t, c.want, amounts(t, s, id, c.params), name)
	}
	page, err := s.client.Accounts.TransactionsPage(t.Context(), id, prepaid.ListTransactionsParams{Before: october.AddDate(-1, 0, 0)})
	require.NoError(t, err)
	require.Empty(t, page.Items)
	responded := s.statuses("GET /accounts/{id}/transactions")
	require.Equal(t, 204, responded[len(responded)-1])

	_, err = s.client.Accounts.TransactionsPage(t.Context(), id, prepaid.ListTransactionsParams{To: end, Before: end})
	invalid(t, err, "before")
}

// Items that exist at the beginning are read once, and the iteration ends, though its reader adds an item for each.
func TestE2ETransactionsWhileMoreComeIn(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
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
}

// A reader that stops early, or has a limit, requests no more than it needs.
func TestE2ETransactionsStoppedEarly(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("0")
	for range 10 {
		s.Adjust(id, "1.00")
	}
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2}}
	for _, err := range s.client.Accounts.Transactions(t.Context(), id, params) {
		require.NoError(t, err)
		break
	}
	require.Len(t, s.statuses("GET /accounts/{id}/transactions"), 1)
	some, err := prepaid.Collect(s.client.Accounts.Transactions(t.Context(), id, params), 3)
	require.ErrorIs(t, err, prepaid.ErrTooMany)
	require.Len(t, some, 3)
	all, err := prepaid.Collect(s.client.Accounts.Transactions(t.Context(), id, params), 10)
	require.NoError(t, err)
	require.Len(t, all, 10)
}

// If a page fails, the iteration ends with its error after the earlier items.
func TestE2ETransactionsFailInTheMiddle(t *testing.T) {
	t.Parallel()
	for _, prefetch := range []int{0, 2} {
		s := newStage(t, prepaidtest.Options{})
		id := s.seed("0")
		for range 12 { // more pages than are requested ahead
			s.Adjust(id, "1.00")
		}
		params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 2, Prefetch: prefetch}}
		items, failures := 0, 0
		for _, err := range s.client.Accounts.Transactions(t.Context(), id, params) {
			if err != nil {
				require.ErrorIs(t, err, prepaid.ErrNotFound)
				failures++
				continue
			}
			if items++; items == 1 {
				s.Inject("GET /accounts/{id}/transactions", prepaidtest.Respond(404, ""))
			}
		}
		require.Equal(t, 1, failures)
		require.Less(t, items, 12)
		require.GreaterOrEqual(t, items, 2)
	}
}

// A page that does not exist is bad input: ErrNotFound is only for accounts.
func TestE2ETransactionsPageBeyondTheLast(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("1.00")
	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Page: 2}}
	_, err := s.client.Accounts.TransactionsPage(t.Context(), id, params)
	require.NotErrorIs(t, refused(t, err, 400, "invalid_request"), prepaid.ErrNotFound)
	_, err = s.client.Accounts.TransactionsPage(t.Context(), "nobody", params)
	require.ErrorIs(t, refused(t, err, 404, "account_not_found"), prepaid.ErrNotFound)
}

// Histories are complete, movements are found and Check reports the difference, however far the service's clock is ahead or
// behind, in both sort orders.
func TestE2EHistoryOfAnotherClock(t *testing.T) {
	t.Parallel()
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
}
