package prepaidtest

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	c := start(t)
	require.NoError(t, c.Load(strings.NewReader(`{
		"companies":[{"id":7,"client_id":"globex","program_id":"p7","product_type":"gift","loop":"closed"},{"id":8,"loop":"none"}],
		"accounts":[{"account_id":"a1","external_account_id":"x1","company_id":7,"balance":25.5,"client_account_key":"k1",
			"status":"inactive","is_plastic_enabled":false,"plastic_expiry":"2040-01-02T03:04:05Z","name_on_card":"A/B"},
			{"account_id":"a2","company_id":8,"account_type":"ledger"},{"account_id":"a3"}],
		"reports":[{"template":"spend","csv":"a,b\n1,2\n"}]}`)))
	require.Contains(t, c.templates, "spend")
	got := c.get("accounts/a1").ok().object()
	for name, want := range map[string]any{
		"external_account_id": "x1", "client_id": "globex", "client_account_key": "k1", "status": "inactive", "product_type": "gift",
		"is_plastic_enabled": false, "plastic_expiry": "2040-01-02T03:04:05Z", "name_on_card": "A/B",
	} {
		require.Equal(t, want, got[name], name)
	}
	require.Equal(t, "25.50", c.Balance("a1"))
	require.Len(t, c.Transactions("a1"), 1)
	require.Equal(t, "ledger", c.get("accounts/a2").ok().object()["account_type"])
	require.Equal(t, "active", c.Status("a3"))
}

func TestLoad_NothingIsAddedWhenAnythingIsWrong(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct{ document, want string }{
		"status":    {`{"accounts":[{"account_id":"a1"},{"status":"sekret"}]}`, "accounts[1].status must be one of"},
		"unknown":   {`{"accounts":[{"account_id":"a1"},{"colour":"sekret"}]}`, "accounts[1].colour is not a member"},
		"twice":     {`{"accounts":[{"account_id":"a1"},{"status":"active","status":"sekret"}]}`, "accounts[1] names a member twice"},
		"type":      {`{"accounts":[{"account_id":"a1"},{"company_id":"sekret"}]}`, "accounts[1].company_id must be an integer"},
		"company":   {`{"accounts":[{"account_id":"a1"},{"company_id":9}]}`, "accounts[1].company_id is not a company"},
		"same id":   {`{"accounts":[{"account_id":"a1"},{"account_id":"a1"}]}`, "accounts[1].account_id exists"},
		"companies": {`{"companies":[{"id":7},{"id":7},{}],"accounts":[{"account_id":"a1"}]}`, "companies[1].id is there twice"},
		"holder":    {`{"accounts":[{"account_id":"a1"},{"card_holder_type":3}]}`, "accounts[1].card_holder_type must be 1 or 2"},
		"report":    {`{"accounts":[{"account_id":"a1"}],"reports":[{"template":"t","csv":""}]}`, "reports[0].csv has no header row"},
		"not JSON":  {`sekret`, "must be a JSON object"},
	} {
		c := start(t)
		err := c.Load(strings.NewReader(tc.document))
		require.ErrorContains(t, err, tc.want, name)
		require.NotContains(t, err.Error(), "sekret", name)
		require.Empty(t, c.Accounts(), name)
		require.NotContains(t, c.companies, int64(7), name)
	}
}
