package contract

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// If something else changes, a day of birth with a time, such as midnight in Sydney, and values that the reference's limits
// no longer allow are put back as the service holds them.
func TestE2EUpdatePutsBackWhatIsHeld(t *testing.T) {
	t.Parallel()
	held := prepaidtest.Cardholder{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: "1990-05-03T14:00:00Z",
		PrimaryAddress: prepaidtest.Address{State: "NSW", Country: "AU"},
	}
	legacy := held
	legacy.EmailAddress = "a..b@example.com"
	legacy.PrimaryAddress = prepaidtest.Address{State: "London", Country: "gb", Postcode: "SW1A 1AA"}
	legacy.Passport = &prepaidtest.Passport{Number: "P1", Expiry: "2001-02-03T04:05:06Z", IssuingCountry: "GBR"}
	for name, row := range map[string]struct {
		personal prepaidtest.Cardholder
		options  prepaidtest.Options
	}{"a time": {held, prepaidtest.Options{}}, "beyond the limits": {legacy, prepaidtest.Options{Lenient: true}}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			onStage(t, row.options, func(t *testing.T, s *stage) {
				id := s.AddAccount(prepaidtest.SeedAccount{Cardholder: &row.personal})
				account, err := s.client.Accounts.Get(t.Context(), id, prepaid.IncludeCardholder)
				require.NoError(t, err)
				require.Equal(t, prepaid.Date{Year: 1990, Month: time.May, Day: 3}, account.Cardholder.DateOfBirth, "the day as written")
				account.Cardholder.MobileNumber = "+61400000002"
				require.NoError(t, s.client.Accounts.Update(t.Context(), id, prepaid.UpdateAccountParams{Cardholder: account.Cardholder}))
				want := row.personal
				want.MobileNumber = "+61400000002"
				asJSON, err := json.Marshal(map[string]any{"registration": want})
				require.NoError(t, err)
				require.JSONEq(t, string(asJSON), s.sent("PUT /accounts/{id}"))
			})
		})
	}
}

// With a wrong client_id the card is created, and only the company has it: the error names the settings at once, and a
// second run creates nothing.
func TestE2EIssueUnderAWrongClientID(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
		params := prepaid.IssueParams{
			Account:         prepaid.CreateAccountParams{CompanyID: prepaidtest.DefaultCompany, ClientAccountKey: "emp-7", Cardholder: cardholder()},
			ProgramClientID: "wrong-id",
		}
		for i, elsewhere := range []string{
			"the account has another client_id", "the company has an account with this client_account_key under another client_id",
		} {
			outcome := []prepaid.Outcome{prepaid.OutcomeApplied, prepaid.OutcomeNotProcessed}[i]
			began := time.Now()
			_, err := s.client.Accounts.Issue(t.Context(), params)
			require.ErrorIs(t, err, prepaid.ErrNotSeen)
			require.Equal(t, outcome, prepaid.OutcomeOf(err))
			require.ErrorContains(t, err, fmt.Sprintf(`under client_id "wrong-id" of company %d: %s`, prepaidtest.DefaultCompany, elsewhere))
			require.Less(t, time.Since(began), 10*time.Second)
			params.Again = true
		}
		require.Equal(t, []int{201}, s.statuses("POST /accounts"))
		params.ProgramClientID = prepaidtest.DefaultProgramClientID
		issued, err := s.client.Accounts.Issue(t.Context(), params)
		require.NoError(t, err)
		require.False(t, issued.Created, "fixed, it is found")
	})
}

// After a lost response the outcome is unknown and nothing is sent again; the history shows a movement.
func TestE2EFundingUnknown(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name    string
		fault   prepaidtest.Fault
		seen    error
		balance string
	}{
		{"response lost", prepaidtest.CommitThenDrop(), nil, "74.50"},
		{"response truncated", prepaidtest.Truncate(), nil, "74.50"},
		{"request lost", prepaidtest.DropBeforeCommit(), prepaid.ErrNotSeen, "100.00"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
				id := s.seed("100.00")
				s.Inject("POST /funding/redemptions", c.fault)
				result, err := s.client.Funding.Redeem(t.Context(), redemption(id, "25.50"))
				require.Nil(t, result)
				require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
				require.Len(t, s.statuses("POST /funding/redemptions"), 1)
				s.holds(id, c.balance)

				query := prepaid.FindMovementParams{
					AccountID: id, Amount: prepaid.MustAmount("25.50"), CardAcceptorID: "QUICKMART", TerminalID: "T0000001",
					Types: []prepaid.TransactionType{"3010"}, Reference: "QUICKMART SYDNEY AU", VisibleWithin: 1,
				}.Around(err)
				finding, err := s.client.Accounts.FindMovement(t.Context(), query)
				require.ErrorIs(t, err, c.seen)
				if c.seen == nil {
					require.Equal(t, s.last(id).ID, finding.Transactions[0].ID)
					s.redeemAgain(id, "25.50")
					finding, err = s.client.Accounts.FindMovement(t.Context(), query)
					require.ErrorIs(t, err, prepaid.ErrAmbiguous)
					require.Len(t, finding.Transactions, 2)
				}
			})
		})
	}
}

func (s *stage) redeemAgain(id prepaid.AccountID, amount string) {
	s.t.Helper()
	_, err := s.client.Funding.Redeem(s.t.Context(), redemption(id, amount))
	require.NoError(s.t, err)
}

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

// If the deadline is before the next poll, the wait ends at once with the error "not ready".
func TestE2EReportRunDeadline(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{ReportDelay: time.Hour}, func(t *testing.T, s *stage) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		params := prepaid.RunReportParams{Wait: prepaid.WaitOptions{Interval: 2 * time.Minute}}
		began := time.Now()
		_, err := s.client.Reporting.Run(ctx, prepaidtest.DailySettlement, params)
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err), "the run goes on")
		require.Equal(t, began, time.Now())
	})
}

// redemption has every field.
func redemption(id prepaid.AccountID, amount string) prepaid.RedeemFundingParams {
	return prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount(amount), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, ClearingAdjustment: true, Currency: "036",
		CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T0000001", AcquirerID: "100001",
	}
}
