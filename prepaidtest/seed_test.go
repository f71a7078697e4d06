package prepaidtest

import (
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

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

func TestLoad_HookScopeIsWhatTheCallerMayAccess(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{PermittedCompanies: []prepaid.CompanyID{42}})
	err := c.Load(strings.NewReader(`{"companies":[{"id":7}],"hooks":[` + body(t, goodHook, map[string]any{"scope": []int{42, 7, 9}}) + `]}`))
	require.EqualError(t, err, "prepaidtest: seed document: hooks[0].scope[1] is not a company that the caller can access; "+
		"hooks[0].scope[2] is not a company of the document or the server")
}

// seedExample is the example with exact numbers.
func seedExample(t *testing.T) (text string, document map[string][]map[string]any) {
	t.Helper()
	raw, err := os.ReadFile(filepath.Join("testdata", "seed.json"))
	require.NoError(t, err)
	decoder := json.NewDecoder(strings.NewReader(string(raw)))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&document))
	return string(raw), document
}

// sameMembers requires the response to have the written members; amounts are compared as such.
func sameMembers(t *testing.T, written, received map[string]any, but ...string) {
	t.Helper()
	for name, want := range written {
		if slices.Contains(but, name) {
			continue
		}
		if name == "balance" || strings.HasSuffix(name, "amount") {
			require.Equal(t, amountOf(t, want), amountOf(t, received[name]), name)
			continue
		}
		require.Equal(t, want, received[name], name)
	}
}

func amountOf(t *testing.T, value any) wire.Money {
	t.Helper()
	amount, err := wire.ParseMoney(fmt.Sprint(value))
	require.NoError(t, err)
	return amount
}

func objectsOf(value any) []map[string]any {
	list, _ := value.([]any)
	objects := make([]map[string]any, len(list))
	for i, element := range list {
		objects[i], _ = element.(map[string]any)
	}
	return objects
}

func TestLoad_Example(t *testing.T) {
	t.Parallel()
	text, example := seedExample(t)
	c := start(t, Options{})
	require.NoError(t, c.Load(strings.NewReader(text)))

	statuses, sorts := make(map[any]bool), make(map[any]bool)
	const groups = "?with_personal=1&with_directentry=1&with_freetext=1&with_bpay=1&with_tokeninfo=1&with_correspondingaccountid=1&with_cardholdertype=1"
	require.GreaterOrEqual(t, len(example["accounts"]), 12)
	require.Len(t, c.AccountIDs(), len(example["accounts"]))
	for _, written := range example["accounts"] {
		id := written["account_id"].(string)
		got := c.get("accounts/" + id + groups).ok().object()
		sameMembers(t, written, got, "transactions", "wallet_tokens")
		statuses[got["status"]], sorts[got["account_type"]], sorts[got["product_type"]] = true, true, true
		checkSeededHistory(t, c, id, written)
		if tokens := objectsOf(written["wallet_tokens"]); len(tokens) > 0 {
			received := c.get("accounts/" + id + "/tokens").ok().list()
			require.Len(t, received, len(tokens))
			for i, token := range tokens {
				sameMembers(t, token, received[i])
				require.NotEmpty(t, received[i]["token_requestor_id"])
			}
		}
	}
	require.Len(t, statuses, len(AccountStatuses()))
	for _, sort := range []string{"proxy", "ledger", "reloadable", "gift", "loyalty"} {
		require.True(t, sorts[sort], sort)
	}
	found := c.get("accounts?client_id=harbour-rewards&client_account_key=harbour%2F0001").ok().list()
	require.Len(t, found, 1)
	require.Equal(t, "EA-MAYA", found[0]["account_id"])
	require.Len(t, c.get("accounts/company/101?program_id=hr-open&page_size=100").ok().list(), 7)

	checkSeededPolicies(t, c, example["companies"])
	for _, written := range example["reports"] {
		path := "reporting/templates/" + written["template"].(string)
		run := string(c.get(path + "?include_column_headers=true").ok().body)
		c.Advance(time.Minute)
		require.Equal(t, written["csv"], c.get(path + "/reports/" + run).ok().object()["reportdata"])
	}
	hooks := c.get("hooks").ok().list()
	require.Len(t, hooks, len(example["hooks"]))
	for i, written := range example["hooks"] {
		sameMembers(t, written, hooks[i], "hmac_key_secret")
		require.NotEmpty(t, hooks[i]["id"])
	}
	require.Empty(t, c.Deliveries())

	before := len(c.AccountIDs())
	require.ErrorContains(t, c.Load(strings.NewReader(text)), "accounts[0].account_id exists on the server")
	require.Len(t, c.AccountIDs(), before)
}

// checkSeededHistory requires the written transactions, at most one opening load before them, and running balances
// that end with the balance.
func checkSeededHistory(t *testing.T, c *caller, id string, written map[string]any) {
	t.Helper()
	var items []map[string]any
	if got := c.get("accounts/" + id + "/transactions?page_size=100"); got.status != 204 {
		items = got.ok().list()
	}
	slices.SortStableFunc(items, func(a, b map[string]any) int {
		return strings.Compare(a["occurred_at"].(string), b["occurred_at"].(string))
	})
	var running wire.Money
	for _, item := range items {
		running, _ = running.Plus(amountOf(t, item["amount"]))
		running, _ = running.Minus(amountOf(t, item["fee_amount"]))
		require.Equal(t, running, amountOf(t, item["running_balance_amount"]))
	}
	history := objectsOf(written["transactions"])
	opening := len(items) - len(history)
	require.GreaterOrEqual(t, opening, 0, id)
	require.LessOrEqual(t, opening, 1, id)
	if opening == 1 {
		require.Equal(t, "2950", items[0]["type"])
		require.NotZero(t, amountOf(t, items[0]["amount"]))
		require.Equal(t, "opening balance", items[0]["reference"])
	}
	for i, transaction := range history {
		sameMembers(t, transaction, items[opening+i])
	}
	require.Equal(t, running.String(), c.Balance(id))
}

func checkSeededPolicies(t *testing.T, c *caller, companies []map[string]any) {
	t.Helper()
	loops := make(map[any]bool)
	for _, written := range companies {
		loops[written["loop"]] = true
		policy := c.get("policy/" + written["id"].(json.Number).String() + "/policy").ok().object()
		require.Equal(t, map[any]string{"open": "allow", "closed": "deny"}[written["loop"]], policy["default_action"])
		codes := written["categories"].([]any)
		require.Len(t, policy["categories"], len(codes))
		for i, code := range codes {
			require.Equal(t, fmt.Sprintf("%04s", code), objectsOf(policy["categories"])[i]["merchant_category_code"])
		}
		for _, list := range []string{"merchants", "terminals"} {
			received := objectsOf(policy[list])
			require.Len(t, received, len(objectsOf(written[list])))
			for i, rule := range objectsOf(written[list]) {
				sameMembers(t, rule, received[i])
				require.NotEmpty(t, received[i]["id"])
			}
		}
	}
	require.ElementsMatch(t, []any{"open", "closed"}, slices.Collect(maps.Keys(loops)))
}

// TestLoad_ExampleNamesNobody checks that the example's addresses and numbers belong to no real person.
func TestLoad_ExampleNamesNobody(t *testing.T) {
	t.Parallel()
	_, example := seedExample(t)
	reserved := []string{"+61 491 570 006", "+61 491 570 156", "+61 491 570 157", "+61 491 570 158", "+61 491 570 159", "+61 491 570 110"}
	for _, written := range example["accounts"] {
		personal, _ := written["personal"].(map[string]any)
		if personal == nil {
			continue
		}
		require.Contains(t, reserved, personal["mobile_number"])
		require.True(t, strings.HasSuffix(personal["email_address"].(string), "@example.com"))
	}
}
