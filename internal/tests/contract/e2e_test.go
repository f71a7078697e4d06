package contract

import (
	"fmt"
	"net/http"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// stage is an emulator and a client of it, for one test.
type stage struct {
	*prepaidtest.Server
	client *prepaid.Client
}

// onStage runs a test in a bubble with an emulator in memory and a client. Both have a clock on which a wait takes no time.
func onStage(t *testing.T, test func(t *testing.T, s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		server := prepaidtest.NewServer(t, prepaidtest.Options{InMemory: true})
		test(t, &stage{server, harness.NewClient(t, server.Config())})
	})
}

// invalid checks that nothing was sent, and which fields were at fault.
func invalid(t *testing.T, err error, fields ...string) {
	t.Helper()
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	faults := harness.As[*prepaid.ValidationError](t, err)
	found := make([]string, len(faults.Faults))
	for i, fault := range faults.Faults {
		found[i] = fault.Field
	}
	require.Equal(t, fields, found)
}

// With a wrong client_id the card is created, and only the company has it: the error names the settings at once, and a
// second run creates nothing.
func TestE2EIssueUnderAWrongClientID(t *testing.T) {
	t.Parallel()
	onStage(t, func(t *testing.T, s *stage) {
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
		require.Len(t, slices.DeleteFunc(s.Requests(), func(r prepaidtest.Request) bool { return r.Method != http.MethodPost || r.Template != "/accounts" }), 1)
		params.ProgramClientID = prepaidtest.DefaultProgramClientID
		issued, err := s.client.Accounts.Issue(t.Context(), params)
		require.NoError(t, err)
		require.False(t, issued.Created, "fixed, it is found")
	})
}
