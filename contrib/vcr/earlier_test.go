package prepaidvcr_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
)

// earlierCalls are the calls of testdata/earlier.yaml.
func earlierCalls(t *testing.T, c *prepaid.Client, from, to prepaid.AccountID) {
	t.Helper()
	account, err := c.Accounts.Get(t.Context(), from, prepaid.IncludeCardholder)
	require.NoError(t, err)
	require.Equal(t, from, account.ID)
	require.Equal(t, "100.00", account.Balance.String())
	require.NoError(t, c.Accounts.Update(t.Context(), from, prepaid.UpdateAccountParams{Cardholder: account.Cardholder}))
	id := prepaid.NewRequestID()
	require.NoError(t, transfer(t, c, id, from, to))
	require.NoError(t, transfer(t, c, id, from, to))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(redeem(t, c, from)))
	found, err := c.Accounts.TransactionsPage(t.Context(), from, prepaid.ListTransactionsParams{})
	require.NoError(t, err)
	require.Equal(t, "-5.00", found.Items[0].Amount.String())
	tokens, err := c.Accounts.WalletTokens(t.Context(), from)
	require.NoError(t, err)
	require.Len(t, tokens, 1)
	header, sum := settled(t, c)
	require.Equal(t, []string{"account", "note", "amount"}, header)
	require.Equal(t, "10.04", sum.String())
	var got limits
	require.NoError(t, raw(t, c, "/accounts/{id}/limits", nil, &got))
	require.Equal(t, "99.50", got.Daily.String())
}

// A cassette of an earlier version is replayed with other values: an account, payments with all outcomes, a wallet, a report, a raw call.
func TestCassetteOfAnEarlierVersion(t *testing.T) {
	t.Parallel()
	recorder, c := replay(t, "testdata/earlier", prepaidvcr.Options{})
	earlierCalls(t, c, "mine", "other")
	require.NoError(t, recorder.Stop())
}

// A cassette of an earlier version may lack members. A replay of this response fails instead of showing zeros.
func TestLeftOutByAnEarlierVersion(t *testing.T) {
	t.Parallel()
	content, err := os.ReadFile("testdata/payout.yaml")
	require.NoError(t, err)
	path := filepath.Join(t.TempDir(), "earlier")
	require.NoError(t, os.WriteFile(path+".yaml", []byte(strings.ReplaceAll(string(content), `"client_id": "anon6"`, `"anon7": 990000274`)), 0o600))
	_, c := replay(t, path, prepaidvcr.Options{AllowUnused: true})
	_, err = c.Accounts.Get(t.Context(), "any")
	require.Equal(t, []string{"body.(unknown)"}, requireMissing(t, err, "anon7").LeftOut)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	require.ErrorContains(t, err, "the recording left out values of response body.(unknown)")
}
