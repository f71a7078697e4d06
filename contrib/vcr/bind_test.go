package prepaidvcr_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func transfer(t *testing.T, c *prepaid.Client, id prepaid.RequestID, from, to prepaid.AccountID) error {
	t.Helper()
	_, err := c.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
		RequestID: id, Amount: prepaid.MustAmount("5.00"), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
	})
	return err
}

func requireContradiction(t *testing.T, err error, places ...string) {
	t.Helper()
	requireContradictionAfter(t, prepaid.OutcomeNotProcessed, err, places...)
}

// requireContradictionAfter requires a contradiction only after an earlier call.
func requireContradictionAfter(t *testing.T, outcome prepaid.Outcome, err error, places ...string) {
	t.Helper()
	missing, ok := errors.AsType[*prepaidvcr.UnrecordedError](err)
	require.True(t, ok, "%v", err)
	require.Equal(t, places, missing.Contradicting)
	require.Equal(t, outcome, prepaid.OutcomeOf(err))
	require.ErrorContains(t, err, "the one like it is about another value in "+places[0])
}

// Accounts from the cassette must be in their recorded places, or there is no response.
func TestSwappedAccountsAreSeen(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	account(srv, "100.00")
	account(srv, "100.00")
	search := func(c *prepaid.Client) (one, other prepaid.AccountID) {
		found, err := prepaid.Collect(c.Accounts.SearchCompany(t.Context(), 42, prepaid.SearchCompanyParams{}), 10)
		require.NoError(t, err)
		require.Len(t, found, 2)
		return found[0].ID, found[1].ID
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		from, to := search(c)
		require.NoError(t, transfer(t, c, prepaid.NewRequestID(), from, to))
		for _, id := range []prepaid.AccountID{from, to} {
			_, err := c.Accounts.Get(t.Context(), id)
			require.NoError(t, err)
		}
	})
	recorder, c := replay(t, path, prepaidvcr.Options{})
	from, to := search(c)
	requireContradiction(t, transfer(t, c, prepaid.NewRequestID(), to, from), "body.destination_account_id", "path {id}")
	require.NoError(t, transfer(t, c, prepaid.NewRequestID(), from, to))
	for range 2 {
		got, err := c.Accounts.Get(t.Context(), from)
		if err != nil {
			requireContradiction(t, err, "path {id}")
			continue
		}
		require.Equal(t, from, got.ID)
	}
	got, err := c.Accounts.Get(t.Context(), to)
	require.NoError(t, err)
	require.Equal(t, to, got.ID)
	require.NoError(t, recorder.Stop())
}

// After its first use, a caller's own account stands for a recorded one.
func TestSwappedAccountsOfTheCaller(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	calls := func(c *prepaid.Client, known, from, to prepaid.AccountID) error {
		_, err := c.Accounts.Get(t.Context(), known)
		require.NoError(t, err)
		return transfer(t, c, prepaid.NewRequestID(), from, to)
	}
	path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) {
		from, to := account(srv, "100.00"), account(srv, "")
		require.NoError(t, calls(c, from, from, to))
	})
	for _, test := range []struct {
		from, to prepaid.AccountID
		places   []string
	}{
		{"one", "two", nil}, {"one", "three", nil}, {"two", "one", []string{"body.destination_account_id", "path {id}"}},
		{"two", "three", []string{"path {id}"}}, {"one", "one", []string{"body.destination_account_id"}},
	} {
		_, c := replay(t, path, prepaidvcr.Options{AllowUnused: true})
		err := calls(c, "one", test.from, test.to)
		if test.places == nil {
			require.NoError(t, err)
		} else if test.from != test.to { // the client itself refuses it
			requireContradiction(t, err, test.places...)
		}
	}
}

// Any request id is possible, but a payment that was repeated under its id must be so again, and two payments must not
// become one.
func TestRequestIDsOfRepeatedPayments(t *testing.T) {
	t.Parallel()
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	from, to := account(srv, "100.00"), account(srv, "")
	a, b := prepaid.NewRequestID(), prepaid.NewRequestID()
	pay := func(c *prepaid.Client, ids ...prepaid.RequestID) (err error) {
		for _, id := range ids {
			err = errors.Join(err, transfer(t, c, id, from, to))
		}
		return err
	}
	for _, test := range []struct {
		recorded, replayed, wrong []prepaid.RequestID
		outcome                   prepaid.Outcome
	}{
		{[]prepaid.RequestID{a, a}, []prepaid.RequestID{b, b}, []prepaid.RequestID{a, b}, prepaid.OutcomeNotProcessed},
		{[]prepaid.RequestID{a, b}, []prepaid.RequestID{b, a}, []prepaid.RequestID{a, a}, prepaid.OutcomeApplied}, // by the first call
	} {
		var recorded error
		path := record(t, srv, prepaidvcr.Options{}, func(c *prepaid.Client) { recorded = pay(c, test.recorded...) })
		require.NoError(t, recorded)
		recorder, c := replay(t, path, prepaidvcr.Options{})
		require.NoError(t, pay(c, test.replayed...))
		require.NoError(t, recorder.Stop())
		_, c = replay(t, path, prepaidvcr.Options{AllowUnused: true})
		requireContradictionAfter(t, test.outcome, pay(c, test.wrong...), "body.request_id")
		srv = prepaidtest.NewServer(t, prepaidtest.Options{})
		from, to = account(srv, "100.00"), account(srv, "")
	}
}
