package prepaidvcr_test

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// After its first use, a caller's own account stands for a recorded one.
func TestSwappedAccountsOfTheCaller(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	calls := func(c *prepaid.Client, known, from, to prepaid.AccountID) error {
		_, err := c.Accounts.Get(t.Context(), known)
		require.NoError(t, err)
		return transfer(t, c, prepaid.NewRequestID(), from, to)
	}
	path, _ := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) {
		from, to := account(srv, "100.00"), account(srv, "")
		require.NoError(t, calls(c, from, from, to))
	})
	for _, test := range []struct {
		from, to prepaid.AccountID
		places   []string
	}{
		{"one", "three", nil}, {"two", "one", []string{"body.destination_account_id", "path {id}"}}, {"two", "three", []string{"path {id}"}},
	} {
		_, c := replay(t, path, prepaidvcr.Options{AllowUnused: true})
		err := calls(c, "one", test.from, test.to)
		if test.places == nil {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, test.places, requireMissing(t, err, string(test.from)).Differing)
	}
}

// Any request ID is possible, but a payment that was repeated with its ID must be so again, and two payments must not become one.
func TestRequestIDsOfRepeatedPayments(t *testing.T) {
	t.Parallel()
	a, b := prepaid.NewRequestID(), prepaid.NewRequestID()
	for _, test := range []struct {
		recorded, replayed, wrong []prepaid.RequestID
		outcome                   prepaid.Outcome
	}{
		{[]prepaid.RequestID{a, a}, []prepaid.RequestID{b, b}, []prepaid.RequestID{a, b}, prepaid.OutcomeNotProcessed},
		{[]prepaid.RequestID{a, b}, []prepaid.RequestID{b, a}, []prepaid.RequestID{a, a}, prepaid.OutcomeApplied}, // by the first call
	} {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		from, to := account(srv, "100.00"), account(srv, "")
		pay := func(c *prepaid.Client, ids []prepaid.RequestID) (err error) {
			for _, id := range ids {
				err = errors.Join(err, transfer(t, c, id, from, to))
			}
			return err
		}
		path, _ := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) { require.NoError(t, pay(c, test.recorded)) })
		recorder, c := replay(t, path, prepaidvcr.Options{})
		require.NoError(t, pay(c, test.replayed))
		require.NoError(t, recorder.Stop())
		_, c = replay(t, path, prepaidvcr.Options{AllowUnused: true})
		err := pay(c, test.wrong)
		require.Equal(t, []string{"body.request_id"}, requireMissing(t, err, string(a)).Differing)
		require.Equal(t, test.outcome, prepaid.OutcomeOf(err))
	}
}

// customer is a caller's data of a cardholder and the program: in a replay all may be different.
type customer struct {
	company                  prepaid.CompanyID
	program, name, reference string
	float                    prepaid.AccountID
}

func (c customer) issue(again bool) prepaid.IssueParams {
	params := prepaid.IssueParams{Account: harness.NewCardParams(), ProgramClientID: c.program, VisibleWithin: time.Second, Again: again}
	params.Account.CompanyID, params.Account.ClientAccountKey, params.Account.Cardholder.LastName = c.company, c.name+"-4711", c.name
	return params
}

// run issues a card, loads it and reads: each step compares the received with the sent values.
func (c customer) run(t *testing.T, client *prepaid.Client) {
	t.Helper()
	for _, again := range []bool{false, true} {
		issued, err := client.Accounts.Issue(t.Context(), c.issue(again))
		require.NoError(t, err)
		require.Equal(t, !again, issued.Created)
		require.Equal(t, c.company, issued.Account.CompanyID)
		require.Equal(t, c.name+"-4711", issued.Account.ClientAccountKey)
		require.Equal(t, c.program, issued.Account.ProgramClientID)
	}
	all, err := prepaid.Collect(client.Accounts.SearchCompany(t.Context(), c.company, prepaid.SearchCompanyParams{}), 10)
	require.NoError(t, err)
	id := all[slices.IndexFunc(all, func(a *prepaid.Account) bool { return a.ClientAccountKey == c.name+"-4711" })].ID
	require.NoError(t, client.Accounts.SetStatus(t.Context(), id, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}))
	_, err = client.Accounts.Transfer(t.Context(), c.float, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: id,
		SourceReference: c.reference, DestinationReference: "welcome",
	})
	require.NoError(t, err)
	history, err := client.Accounts.TransactionsPage(t.Context(), c.float, prepaid.ListTransactionsParams{})
	require.NoError(t, err)
	require.Equal(t, c.reference, history.Items[0].Reference)
	holder, err := client.Accounts.Get(t.Context(), id, prepaid.IncludeCardholder)
	require.NoError(t, err)
	require.Equal(t, id, holder.ID)
	require.Equal(t, c.name, holder.Cardholder.LastName)
	// Values from responses are sent: a pseudonym must be accepted where its value was.
	require.NoError(t, client.Accounts.Update(t.Context(), id, prepaid.UpdateAccountParams{Cardholder: holder.Cardholder}))
}

// If the caller sends a value in place of a recorded one, responses show it from then on.
func TestResponsesShowWhatTheCallerSent(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	recorded := customer{
		company: prepaidtest.DefaultCompany, program: prepaidtest.DefaultProgramClientID, name: "MIRA", reference: "load mira",
		float: account(srv, "100.00"),
	}
	path, content := record(t, srv.Config(), prepaidvcr.Options{}, func(c *prepaid.Client) { recorded.run(t, c) })
	for _, value := range []string{"4711", "mira", string(recorded.float), recorded.program} {
		require.NotContains(t, strings.ToLower(content), strings.ToLower(value))
	}
	for _, replayed := range []customer{
		recorded,
		{company: 7, program: "another program", name: "QUENTIN", reference: `a "quoted" reference`, float: "EA-any"},
	} {
		recorder, c := replay(t, path, prepaidvcr.Options{})
		replayed.run(t, c)
		require.NoError(t, recorder.Stop())
	}
}
