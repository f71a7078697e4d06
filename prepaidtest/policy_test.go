package prepaidtest

import (
	"encoding/json"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestSpec_4_3_MerchantCategoryCodesArePaged(t *testing.T) {
	t.Parallel()
	c := start(t, Options{PageSizes: PageSizes{Least: 1, Normal: 10, Most: 50}})
	seen := make(map[string]bool)
	first := c.get("policy/mccodes").ok()
	pages, err := strconv.Atoi(first.header.Get("X-TotalPages"))
	require.NoError(t, err)
	for page := range pages {
		for _, code := range c.get("policy/mccodes?page_number=" + strconv.Itoa(page+1)).ok().list() {
			require.Len(t, code, 2)
			require.NotEmpty(t, code["description"])
			seen[code["code"].(json.Number).String()] = true
		}
	}
	require.Equal(t, first.header.Get("X-TotalItems"), strconv.Itoa(len(seen)))
	require.Greater(t, len(seen), 60)
	require.True(t, seen["742"])
	c.get("policy/mccodes?page_number="+strconv.Itoa(pages+1)).refused(400, "invalid_request")
}

func TestSpec_4_3_PolicyAndItsViews(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 7, ClientID: "seven", Loop: ClosedLoop})

	empty := c.get("policy/42/policy").ok().object()
	require.Equal(t, "allow", empty["default_action"])
	require.NotEmpty(t, empty["description"])
	for _, list := range []string{"terminals", "categories", "merchants"} {
		require.Equal(t, []any{}, empty[list])
	}
	for _, company := range []string{"42", "7"} {
		c.post("policy/"+company+"/categories", `{"reason":"r","require_approval":false,"add":[742,5812,5812],"remove":[1]}`).empty(200)
		c.post("policy/"+company+"/categories", `{"remove":[5812]}`).empty(200)
		c.post("policy/"+company+"/merchants", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M1","description":"d"},{"acquirer_id":1,"card_acceptor_id":"M2","description":"e"},{"acquirer_id":1,"card_acceptor_id":"M2","description":"e"}]}`).empty(200)
		c.post("policy/"+company+"/merchants", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M1"}]}`).empty(200)
		c.post("policy/"+company+"/terminals", `{"add":[{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T1","card_acceptor_name_location":"l","description":"d"},{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T2"},{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T2"}]}`).empty(200)
		c.post("policy/"+company+"/terminals", `{"remove":[{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T1"}]}`).empty(200)
	}
	whole := c.get("policy/7/policy").ok().object()
	require.Equal(t, "deny", whole["default_action"])
	require.Equal(t, []any{map[string]any{"merchant_category_code": "0742"}}, whole["categories"])
	require.Equal(t, []int{1, 1}, []int{len(whole["merchants"].([]any)), len(whole["terminals"].([]any))}, "an item twice is one rule")
	merchant := whole["merchants"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"acquirer_id": json.Number("1"), "card_acceptor_id": "M2", "description": "e", "id": merchant["id"]}, merchant)
	terminal := whole["terminals"].([]any)[0].(map[string]any)
	require.Equal(t, map[string]any{"acquirer_id": json.Number("2"), "card_acceptor_id": "M", "terminal_id": "T2", "id": terminal["id"]}, terminal)
	require.NotEqual(t, merchant["id"], terminal["id"])

	for _, part := range []string{"categories", "merchants", "terminals"} {
		got := c.get("policy/7/" + part).ok().object()
		require.Len(t, got, 3)
		require.Equal(t, whole[part], got[part])
		c.post("policy/x/"+part, `{}`).refused(400, "invalid_request")
		c.post("policy/42/"+part, `{}`).empty(200)
	}
	c.get("policy/x/policy").refused(400, "invalid_request")
}

func TestSpec_5_Rule6_PolicyChangeNeedsPermission(t *testing.T) {
	t.Parallel()
	c := start(t, Options{PermittedCompanies: []prepaid.CompanyID{7}})
	c.AddCompany(Company{ID: 7, ClientID: "seven"})
	for _, part := range []string{"categories", "merchants", "terminals"} {
		c.post("policy/42/"+part, `{}`).refused(403, "forbidden")
		c.post("policy/7/"+part, `{}`).empty(200)
		c.get("policy/42/" + part).ok()
	}
}

func TestSpec_4_3_RestrictionsFollowTheLoop(t *testing.T) {
	t.Parallel()
	for loop, want := range map[Loop][3]string{OpenLoop: {"open", "must_block", "allow"}, ClosedLoop: {"close", "must_allow", "deny"}} {
		c := start(t, Options{})
		c.AddCompany(Company{ID: 7, ClientID: "seven", Loop: loop})
		c.post("policy/7/categories", `{"add":[742]}`).empty(200)
		c.post("policy/7/terminals", `{"add":[{"acquirer_id":9007199254740993,"card_acceptor_id":"A","terminal_id":"T"}]}`).empty(200)
		require.Equal(t, map[string]any{
			"type":           want[0],
			"terminal_rules": []any{map[string]any{"rule_type": want[1], "acquirer": "9007199254740993", "acceptor": "A", "terminal": "T"}},
			"category_rules": []any{map[string]any{"rule_type": want[1], "category_code": "0742"}},
		}, c.get("policy/7/restrictions").ok().object())
		require.Equal(t, want[2], c.get("policy/7/policy").ok().object()["default_action"])
	}
}

// Rule 1: an added item is a rule of the list, black or white by the loop; rule 2: removal deletes the rule alone.
func TestSpec_4_3_Rule2_RemovalDeletesTheRuleOnly(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	codes := func() string { return string(c.get("policy/mccodes?page_size=500").ok().body) }
	before := codes()
	require.Contains(t, before, `"code":5812,`)
	c.post("policy/42/categories", `{"add":[5812,742,6011]}`).empty(200)
	c.post("policy/42/categories", `{"remove":[5812]}`).empty(200)
	require.JSONEq(t, before, codes())
	require.Equal(t, []any{map[string]any{"merchant_category_code": "0742"}, map[string]any{"merchant_category_code": "6011"}},
		c.get("policy/42/categories").object()["categories"])

	c.post("policy/42/merchants", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","description":"d"}]}`).empty(200)
	c.post("policy/42/terminals", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"}]}`).empty(200)
	c.post("policy/42/merchants", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M"}]}`).empty(200)
	require.Len(t, c.get("policy/42/terminals").object()["terminals"], 1, "the terminal rules of the merchant stay")
	require.Empty(t, c.get("policy/42/merchants").object()["merchants"])
	// Removing an unlisted item is no fault.
	c.post("policy/42/merchants", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M"}]}`).empty(200)
}

func TestSpec_4_3_Rule3_ATerminalIsRemovedByItsThreeIDs(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.post("policy/42/terminals", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T","description":"d","card_acceptor_name_location":"l"}]}`).empty(200)
	for _, other := range []string{
		`{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T"}`, `{"acquirer_id":1,"card_acceptor_id":"N","terminal_id":"T"}`,
		`{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"U"}`,
	} {
		c.post("policy/42/terminals", `{"remove":[`+other+`]}`).empty(200)
	}
	rule := c.get("policy/42/terminals").object()["terminals"].([]any)[0].(map[string]any)
	require.Equal(t, "d", rule["description"])
	require.Equal(t, "l", rule["card_acceptor_name_location"])
	require.Contains(t, c.post("policy/42/terminals", `{"remove":[{"id":`+rule["id"].(json.Number).String()+`}]}`).refused(400, "invalid_request"), "terminal_id")
	c.post("policy/42/terminals", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"}]}`).empty(200)
	require.Empty(t, c.get("policy/42/terminals").object()["terminals"])
}

func TestSpec_4_3_ListsAllInvalidFieldsAndChangesNothing(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, test := range []struct {
		part, body string
		fields     []string
	}{
		{
			"terminals", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"},{"description":1}],"remove":[{}]}`,
			[]string{"add[1].acquirer_id", "add[1].card_acceptor_id", "add[1].terminal_id", "add[1].description", "remove[0].acquirer_id", "remove[0].card_acceptor_id", "remove[0].terminal_id"},
		},
	} {
		description := c.post("policy/42/"+test.part, test.body).refused(400, "invalid_request")
		for _, field := range test.fields {
			require.Contains(t, description, field+" ", test.body)
		}
		require.Empty(t, c.get("policy/42/" + test.part).object()[test.part])
	}
}

func TestSpec_7_404_ACompanyWithoutAPolicy(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 8, ClientID: "eight", Loop: NoPolicy})
	for _, company := range []string{"8", "9"} {
		for _, view := range []string{"policy", "restrictions", "categories", "merchants", "terminals"} {
			c.get("policy/"+company+"/"+view).refused(404, "policy_not_found")
			if view != "policy" && view != "restrictions" {
				c.post("policy/"+company+"/"+view, `{}`).refused(404, "policy_not_found")
			}
		}
	}
}

// listedRules are the ways a purchase at merchant M, terminal T of acquirer 1 in category 5812 can be listed.
func listedRules() map[string]string {
	return map[string]string{
		"categories": `{"add":[5812]}`,
		"merchants":  `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","description":"d"}]}`,
		"terminals":  `{"add":[{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"}]}`,
	}
}

// One rule that fits is enough, whatever the other kinds list: no kind takes precedence.
func TestSpec_4_3_Rule1_OneRuleOfAnyKindDecides(t *testing.T) {
	t.Parallel()
	for loop, approved := range map[Loop]bool{OpenLoop: false, ClosedLoop: true} {
		for part, rule := range listedRules() {
			s := simulate(t, Options{})
			s.AddCompany(Company{ID: DefaultCompany, ClientID: "acme", Loop: loop})
			for other, beside := range listedRules() { // rules that do not fit
				for _, change := range []*strings.Replacer{
					strings.NewReplacer("5812", "6011", `"M"`, `"other"`), strings.NewReplacer("5812", "6012", `_id":1`, `_id":2`),
				} {
					s.post("policy/42/"+other, change.Replace(beside)).empty(200)
				}
			}
			s.post("policy/42/terminals", strings.Replace(listedRules()["terminals"], `"T"`, `"U"`, 1)).empty(200)
			ok, _, _ := s.run("transact", nil)
			require.Equal(t, !approved, ok, "%s %s", loop, part)
			s.post("policy/42/"+part, rule).empty(200)
			ok, _, _ = s.run("transact", nil)
			require.Equal(t, approved, ok, "%s %s", loop, part)
		}
	}
}

func TestSpec_4_3_Rule1_ThePolicyDecidesEachKindOfTransaction(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.post("policy/42/categories", `{"add":[6011]}`).empty(200)
	for _, kind := range []string{"Purchase", "Withdrawal", "PosCredit"} {
		ok, message, id := s.run("transact", map[string]any{"transaction_type": kind, "mcc": "6011"})
		require.False(t, ok)
		require.Equal(t, "Declined by policy", message)
		require.Empty(t, id)
	}
	require.Empty(t, s.booked())
	s.AddCompany(Company{ID: 9, ClientID: "nine", Loop: NoPolicy})
	ok, _, _ := s.run("transact", map[string]any{"account_id": s.AddAccount(SeedAccount{CompanyID: 9, Balance: "10"})})
	require.True(t, ok)
}
