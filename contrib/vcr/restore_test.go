package prepaidvcr_test

import (
	"errors"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// customer is a caller's data of a cardholder and the program: in a replay all may be different.
type customer struct {
	company                       prepaid.CompanyID
	program, key, name, reference string
	float                         prepaid.AccountID
}

func (c customer) issue() prepaid.IssueParams {
	return prepaid.IssueParams{
		Account: prepaid.CreateAccountParams{
			CompanyID: c.company, ClientAccountKey: c.key, NameOnCard: c.name,
			Cardholder: &prepaid.Cardholder{
				FirstName: c.name, LastName: c.name + "sen", MobileNumber: "+61491570156", EmailAddress: c.name + "@mail.example",
				DateOfBirth:    prepaid.Date{Year: 1990, Month: time.May, Day: 1},
				PrimaryAddress: prepaid.Address{Line1: "1 " + c.name + " Lane", City: "Town", State: "NSW", Country: "AU", Postcode: "2000"},
			},
		},
		ProgramClientID: c.program, VisibleWithin: time.Second,
	}
}

// run issues a card, loads it, looks for the movement and searches: each step compares the received with the sent values.
func (c customer) run(t *testing.T, client *prepaid.Client) {
	t.Helper()
	issued, err := client.Accounts.Issue(t.Context(), c.issue())
	require.NoError(t, err)
	require.True(t, issued.Created)
	require.Equal(t, c.company, issued.Account.CompanyID)
	require.Equal(t, c.key, issued.Account.ClientAccountKey)
	require.Equal(t, c.program, issued.Account.ProgramClientID)
	again := c.issue()
	again.Again = true
	found, err := client.Accounts.Issue(t.Context(), again)
	require.NoError(t, err)
	require.False(t, found.Created)
	require.Equal(t, issued.Account.ID, found.Account.ID)

	got, err := client.Accounts.Get(t.Context(), c.float)
	require.NoError(t, err)
	require.Equal(t, c.float, got.ID)
	require.NoError(t, client.Accounts.SetStatus(t.Context(), issued.Account.ID, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}))
	moved, err := client.Accounts.Transfer(t.Context(), c.float, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: issued.Account.ID,
		SourceReference: c.reference, DestinationReference: "welcome",
	})
	require.NoError(t, err)
	finding, err := client.Accounts.FindMovement(t.Context(), prepaid.FindMovementParams{
		AccountID: c.float, Amount: prepaid.MustAmount("25.50"), Reference: c.reference,
		From: time.Now().Add(-time.Hour), To: time.Now().Add(time.Hour), VisibleWithin: time.Millisecond,
	})
	require.NoError(t, err)
	require.Equal(t, moved.TransactionID, finding.Transactions[0].ID)
	holder, err := client.Accounts.Get(t.Context(), issued.Account.ID, prepaid.IncludeCardholder)
	require.NoError(t, err)
	require.Equal(t, issued.Account.ID, holder.ID)
	require.Equal(t, c.name+"sen", holder.Cardholder.LastName)
	require.Equal(t, c.name+"@mail.example", holder.Cardholder.EmailAddress)
	all, err := prepaid.Collect(client.Accounts.SearchCompany(t.Context(), c.company, prepaid.SearchCompanyParams{}), 10)
	require.NoError(t, err)
	ids := map[prepaid.AccountID]bool{}
	for _, account := range all {
		require.Equal(t, c.company, account.CompanyID)
		ids[account.ID] = true
	}
	require.True(t, ids[c.float] && ids[issued.Account.ID] && len(ids) == 2)
}

// If the caller sends a value in place of a recorded one, responses show it from then on. The cassette does not
// get it.
func TestResponsesShowWhatTheCallerSent(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	recorded := customer{
		company: prepaidtest.DefaultCompany, program: prepaidtest.DefaultProgramClientID, key: "customer-4711", name: "MIRA", reference: "load mira",
		float: account(srv, "100.00"),
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) { recorded.run(t, c) })
	content, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	for _, value := range []string{"4711", "mira", "lane", string(recorded.float), recorded.program} {
		require.NotContains(t, strings.ToLower(string(content)), strings.ToLower(value))
	}
	for _, replayed := range []customer{
		recorded,
		{company: 7, program: "another program", key: "k", name: "QUENTIN", reference: `a "quoted" reference`, float: "EA-any"},
	} {
		recorder, c := replay(t, path, prepaidvcr.Options{})
		replayed.run(t, c)
		require.NoError(t, recorder.Stop())
	}
	after, err := os.ReadFile(path + ".yaml")
	require.NoError(t, err)
	require.Equal(t, string(content), string(after))
}

// If the caller sent two values for one recorded value, a response that would have to show one is refused, with the
// name of the member.
func TestTwoValuesForOneRecordedValue(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from, to := account(srv, "100.00"), account(srv, "")
	pay := func(c *prepaid.Client, source, destination prepaid.AccountID, references ...string) (history []string, err error) {
		for _, reference := range references {
			_, err := c.Accounts.Transfer(t.Context(), source, prepaid.TransferParams{
				RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("5.00"), DestinationAccountID: destination,
				SourceReference: reference, DestinationReference: "to",
			})
			require.NoError(t, err, "the response shows no reference")
		}
		for transaction, err := range c.Accounts.Transactions(t.Context(), source, prepaid.ListTransactionsParams{}) {
			if err != nil {
				return nil, err
			}
			if transaction.Amount == prepaid.MustAmount("-5.00") {
				history = append(history, transaction.Reference)
			}
		}
		return history, nil
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		_, err := pay(c, from, to, "rent", "rent")
		require.NoError(t, err)
	})
	recorder, c := replay(t, path, prepaidvcr.Options{})
	history, err := pay(c, "one", "two", "wages", "wages")
	require.NoError(t, err)
	require.Equal(t, []string{"wages", "wages"}, history)
	require.NoError(t, recorder.Stop())

	_, c = replay(t, path, prepaidvcr.Options{AllowUnused: true})
	_, err = pay(c, "one", "two", "wages of may", "wages of june")
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.NotEmpty(t, missing.Contradicting)
	for _, place := range missing.Contradicting {
		require.Regexp(t, `^response body\[\d\]\.reference$`, place)
	}
	require.NotContains(t, err.Error(), "wages")
}

// A value that no request has sent before is shown as its pseudonym.
func TestResponsesBeforeTheFirstUse(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	id := account(srv, "1.00")
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		for range 2 {
			_, err := c.Accounts.Get(t.Context(), id)
			require.NoError(t, err)
		}
		_, err := c.Accounts.SearchCompanyPage(t.Context(), prepaidtest.DefaultCompany, prepaid.SearchCompanyParams{})
		require.NoError(t, err)
	})
	recorder, c := replay(t, path, prepaidvcr.Options{})
	for range 2 {
		got, err := c.Accounts.Get(t.Context(), "mine")
		require.NoError(t, err)
		require.Equal(t, prepaid.AccountID("mine"), got.ID)
		require.NotEqual(t, prepaid.CompanyID(prepaidtest.DefaultCompany), got.CompanyID)
	}
	page, err := c.Accounts.SearchCompanyPage(t.Context(), 8, prepaid.SearchCompanyParams{})
	require.NoError(t, err)
	require.Equal(t, prepaid.CompanyID(8), page.Items[0].CompanyID)
	require.Equal(t, prepaid.AccountID("mine"), page.Items[0].ID)
	require.NoError(t, recorder.Stop())
}
