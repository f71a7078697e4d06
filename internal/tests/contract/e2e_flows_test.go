package contract

import (
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
		account := params[prepaid.CreateAccountParams](t, "Accounts.Create")()
		account.CompanyID, account.ClientAccountKey = prepaidtest.DefaultCompany, "emp-7"
		params := prepaid.IssueParams{Account: account, ProgramClientID: "wrong-id"}
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
