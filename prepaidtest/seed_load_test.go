package prepaidtest

import (
	"encoding/json"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestLoad(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	require.NoError(t, c.Load(strings.NewReader(`{
		"companies":[{"id":7,"client_id":"globex","program_id":"p7","product_type":"gift","loop":"closed"},{"id":8,"loop":"none"}],
		"accounts":[{"account_id":"a1","external_account_id":"x1","company_id":7,"balance":25.5,"client_account_key":"k1",
			"status":"inactive","is_plastic_enabled":false,"plastic_expiry":"2040-01-02T03:04:05Z","name_on_card":"A/B"},
			{"account_id":"a2","company_id":8,"account_type":"ledger"},{"account_id":"a3"}],
		"reports":[{"template":"spend","csv":"a,b\n1,2\n"}]}`)))
	c.get("reporting/templates/spend?include_column_headers=true").ok()
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
	c := start(t, Options{})
	c.AddAccount(SeedAccount{ID: "there"})
	before := c.text()
	unchanged := func(name string) { require.Equal(t, before, c.text(), name) }
	for name, tc := range faultySeeds() {
		document := `{"companies":[{"id":42,"client_id":"x","categories":[1]},{"id":7}` + tc.companies + `],"accounts":[{"account_id":"a1"}` + tc.accounts +
			`],"reports":[{"template":"good","csv":"a"}` + tc.reports + `],"hooks":[` + goodHook + tc.hooks + `]}`
		err := c.Load(strings.NewReader(document))
		require.Error(t, err, name)
		require.Equal(t, "prepaidtest: seed document: "+tc.want, err.Error(), name)
		unchanged(name)
	}
	for document, want := range map[string]string{
		`sekret`:                          "the seed document is not JSON: see line 1",
		"{\n\"accounts\":[\n{,":           "the seed document is not JSON: see line 3",
		`{"accounts":[`:                   "the seed document is not JSON: see line 1",
		``:                                "the seed document is not JSON: see line 1",
		`["sekret"]`:                      "the seed document must be a JSON object",
		`{} {}`:                           "the seed document is not JSON: see line 1",
		`{"hooks":[],"hooks":["sekret"]}`: "the seed document names a member twice",
		"{\"a\":\"\xff\"}":                "the seed document is not valid UTF-8",
	} {
		require.EqualError(t, c.Load(strings.NewReader(document)), "prepaidtest: "+want)
		unchanged(document)
	}
	require.ErrorIs(t, c.Load(iotest.ErrReader(io.ErrNoProgress)), io.ErrNoProgress)
}

// TestLoad_TellsAllFaults reports every fault at once, and the parts of one object with its path.
func TestLoad_TellsAllFaults(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{})
	err := c.Load(strings.NewReader(`{"colour":1,"companies":["sekret",{"id":7},{"id":7}],"accounts":[{},{"status":"sekret","balance":"sekret"}]}`))
	require.EqualError(t, err, "prepaidtest: seed document: companies[0] must be a JSON object; "+
		"accounts[1].balance must be a decimal number of at most 19 digits; "+
		"accounts[1].status must be one of "+strings.Join(AccountStatuses(), ", ")+"; "+
		"colour is not known here; known are accounts, companies, hooks, reports; companies[2].id is there twice")
}

func TestLoad_OpeningLoad(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		account, balance string
		opening          string // its amount; empty for none
	}{
		"balance alone":       {`"balance":5`, "5.00", "5.00"},
		"nothing":             {`"balance":0`, "0.00", ""},
		"rest":                {`"balance":5,"transactions":[{"type":"2950","amount":2,"fee_amount":"0.5","occurred_at":"2024-01-01T00:00:00Z"}]`, "5.00", "3.50"},
		"explained":           {`"balance":2,"transactions":[{"type":"2950","amount":2,"occurred_at":"2024-01-01T00:00:00Z"}]`, "2.00", ""},
		"no balance":          {`"transactions":[{"type":"2950","amount":2,"occurred_at":"2024-01-01T00:00:00Z"}]`, "2.00", ""},
		"back to nothing":     {`"balance":0,"transactions":[{"type":"1118","amount":-2,"occurred_at":"2024-01-01T00:00:00Z"}]`, "0.00", "2.00"},
		"up to the last unit": {`"balance":-9999999999999999999,"transactions":[{"type":"3900","amount":-9999999999999999999,"occurred_at":"2024-01-01T00:00:00Z"}]`, "-9999999999999999999", ""},
	} {
		c := startWithoutToken(t, Options{FrozenClock: true})
		require.NoError(t, c.Load(strings.NewReader(`{"accounts":[{"account_id":"a",`+tc.account+`}]}`)), name)
		require.Equal(t, tc.balance, c.Balance("a"), name)
		history := c.Transactions("a")
		if tc.opening == "" {
			require.Len(t, history, strings.Count(tc.account, "occurred_at"), name)
			continue
		}
		require.Len(t, history, 1+strings.Count(tc.account, "occurred_at"), name)
		require.Equal(t, tc.opening, history[0].Amount, name)
		require.Equal(t, "2950", history[0].Type, name)
		if len(history) > 1 {
			require.True(t, history[0].OccurredAt.Before(history[1].OccurredAt), name)
			continue
		}
		require.Equal(t, c.Now(), history[0].OccurredAt, name)
	}
}

func TestLoad_NothingIsAnnounced(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	c := start(t, Options{WebhookRoots: r.pool()})
	c.addHook(hookText(t, r.URL, nil))
	c.quiet()
	pings := len(c.Deliveries())
	require.NoError(t, c.Load(strings.NewReader(`{"accounts":[{"account_id":"a","balance":5,
		"transactions":[{"type":"2950","amount":2,"occurred_at":"2024-01-01T00:00:00Z"}]}],"hooks":[`+hookText(t, r.URL, nil)+`]}`)))
	c.quiet()
	require.Len(t, c.Deliveries(), pings)
	c.Adjust("a", "1")
	c.quiet()
	require.Len(t, c.Deliveries(), pings+2, "the loaded hook works like the other")
}

func TestLoad_RulesDecideAndExistingCompanyKeepsIts(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.post("policy/42/categories", `{"add":[5411]}`).empty(200)
	require.NoError(t, c.Load(strings.NewReader(`{"companies":[{"id":42,"client_id":"renamed","categories":[5411,742]},{"id":7,"loop":"closed","terminals":[
		{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"}]}],"accounts":[{"account_id":"a","company_id":7,"balance":10}]}`)))
	require.Equal(t, []any{map[string]any{"merchant_category_code": "5411"}, map[string]any{"merchant_category_code": "0742"}},
		c.get("policy/42/categories").ok().object()["categories"])
	purchase := `{"transaction_type":"Purchase","account_id":"a","amount":1,"bank_name":"b","location":"l","location_code":"c","currency_code":"036",` +
		`"acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5999"}`
	require.Equal(t, true, c.post("simulation/transact", purchase).ok().object()["success"])
	require.Equal(t, false, c.post("simulation/transact", body(t, purchase, map[string]any{"terminal_id": "U"})).ok().object()["success"])
}

func TestLoad_WalletTokenDefaults(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	require.NoError(t, c.Load(strings.NewReader(`{"accounts":[{"account_id":"a","plastic_expiry":"2040-11-02T00:00:00Z","wallet_tokens":[{},{"suspenders":[]}]}]}`)))
	tokens := c.get("accounts/a/tokens").ok().list()
	require.Len(t, tokens, 2)
	require.Equal(t, "1140", tokens[0]["expiration_date"])
	for _, token := range tokens {
		again, err := json.Marshal(token)
		require.NoError(t, err)
		other := startWithoutToken(t, Options{})
		require.NoError(t, other.Load(strings.NewReader(`{"accounts":[{"wallet_tokens":[`+string(again)+`]}]}`)), "the defaults keep the rules")
	}
	require.NotEqual(t, tokens[0]["token_unique_reference"], tokens[1]["token_unique_reference"])
}

func TestLoad_HookScopeIsWhatTheCallerMayAccess(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{PermittedCompanies: []prepaid.CompanyID{42}})
	err := c.Load(strings.NewReader(`{"companies":[{"id":7}],"hooks":[` + body(t, goodHook, map[string]any{"scope": []int{42, 7, 9}}) + `]}`))
	require.EqualError(t, err, "prepaidtest: seed document: hooks[0].scope[1] is not a company that the caller can access; "+
		"hooks[0].scope[2] is not a company of the document or the server")
}
