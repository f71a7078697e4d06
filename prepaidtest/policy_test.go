package prepaidtest

import (
	"encoding/json"
	"strconv"
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
		c.post("policy/"+company+"/merchants", `{"add":[{"acquirer_id":1,"card_acceptor_id":"M1","description":"d"},{"acquirer_id":1,"card_acceptor_id":"M2","description":"e"}]}`).empty(200)
		c.post("policy/"+company+"/merchants", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M1"}]}`).empty(200)
		c.post("policy/"+company+"/terminals", `{"add":[{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T1","card_acceptor_name_location":"l","description":"d"},{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T2"}]}`).empty(200)
		c.post("policy/"+company+"/terminals", `{"remove":[{"acquirer_id":2,"card_acceptor_id":"M","terminal_id":"T1"}]}`).empty(200)
	}
	whole := c.get("policy/7/policy").ok().object()
	require.Equal(t, "deny", whole["default_action"])
	require.Equal(t, []any{map[string]any{"merchant_category_code": "0742"}}, whole["categories"])
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

func TestSpec_4_3_ElementsAreChecked(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, test := range []struct{ part, body, field string }{
		{"categories", `{"add":[10000]}`, "add"}, {"categories", `{"remove":[-1]}`, "remove"},
		{"categories", `{"add":5812}`, "add"},
		{"merchants", `{"remove":[{"acquirer_id":1,"card_acceptor_id":"M","description":"d"}]}`, "remove[0].description"},
		{"merchants", `{"add":[1]}`, "add[0]"}, {"terminals", `{"add":{}}`, "add"},
	} {
		require.Contains(t, c.post("policy/42/"+test.part, test.body).refused(400, "invalid_request"), test.field, test.body)
	}
	require.Equal(t, []any{}, c.get("policy/42/categories").object()["categories"])
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
