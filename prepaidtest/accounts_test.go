package prepaidtest

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const creation = `{"company_id":42,"initial_load_amount":0,"registration":{"first_name":"Grace","last_name":"Hopper",
	"date_of_birth":"1906-12-09T00:00:00Z","primary_address":{"state":"NSW","country":"AU"}}}`

func TestSpec_4_4_CreateAccount(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	got := c.post("accounts", body(t, creation, map[string]any{"client_account_key": "emp-7", "initial_load_amount": json.Number("25.50")}))
	require.Equal(t, 201, got.status, string(got.body))
	created := got.object()
	require.Len(t, created, 10)
	require.Equal(t, json.Number("25.50"), created["balance"])
	require.Equal(t, "pre_active", created["status"])
	require.Equal(t, true, created["is_plastic_enabled"])

	found := c.get("accounts?client_id=acme&client_account_key=emp-7").ok().list()
	require.Len(t, found, 1)
	require.Equal(t, created["external_account_id"], found[0]["external_account_id"])
	require.NotEqual(t, found[0]["account_id"], found[0]["external_account_id"])
	history := c.Transactions(found[0]["account_id"].(string))
	require.Len(t, history, 1)
	require.Equal(t, "2950", history[0].Type)

	without := c.post("accounts", creation).object()
	require.NotContains(t, without, "first_transaction_occurred_at")
}

func TestSpec_4_4_InitialLoadAmountInEachWrittenForm(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for raw, want := range map[string]string{
		"0": "0.00", "12.5": "12.50", "010": "8.00", "0o17": "15.00", "0x1F": "31.00", "1e2": "100.00",
		"0.5": "0.50", "00.25": "0.25", "010.5": "10.50", "0O17": "15.00", "0Xff": "255.00", "0x0": "0.00", "00": "0.00", "25.50": "25.50",
	} {
		got := c.post("accounts", strings.Replace(creation, `"initial_load_amount":0`, `"initial_load_amount": `+raw+" ", 1))
		require.Equal(t, 201, got.status, raw)
		require.Equal(t, json.Number(want), got.object()["balance"], raw)
	}
	for _, raw := range []string{"-1", "-0.01", "08", "0o8", "0o", "0x", "0x1.8", "0xZ", `"ten"`, `""`, `"0x1F"`, `"7.25"`, `"1e"`, `"0x"`, "true", "null"} {
		got := c.post("accounts", strings.Replace(creation, `"initial_load_amount":0`, `"initial_load_amount":`+raw, 1))
		require.Equal(t, 400, got.status, raw)
	}
}

func TestSpec_3_1_ReplacementOfALostCard(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	old := c.AddAccount(SeedAccount{Balance: "5"})
	replace := func(changes map[string]any) reply {
		all := map[string]any{"request_type": "replace", "account_id_to_replace": old, "corresponding_account_id": old, "client_account_key": "new"}
		maps.Copy(all, changes)
		return c.post("accounts", body(t, creation, all))
	}
	require.Contains(t, replace(nil).refused(404, "invalid_request"), "account_id_to_replace")
	c.SetStatus(old, "lost_or_stolen")
	require.Contains(t, replace(map[string]any{"account_id_to_replace": nil}).refused(400, "invalid_request"), "account_id_to_replace")
	replace(map[string]any{"account_id_to_replace": "nobody"}).refused(404, "account_not_found")
	replace(map[string]any{"corresponding_account_id": "nobody"}).refused(404, "account_not_found")
	require.Equal(t, 201, replace(nil).status)
	require.Equal(t, 201, replace(map[string]any{"request_type": "new", "account_id_to_replace": "nobody", "client_account_key": "k"}).status, "ignored")
	require.Equal(t, "lost_or_stolen", c.Status(old), "the old account is unchanged")
	require.Equal(t, "5.00", c.Balance(old))

	id := c.get("accounts?client_id=acme&client_account_key=new").list()[0]["account_id"].(string)
	got := c.get("accounts/" + id + "?with_correspondingaccountid=1").object()
	require.Equal(t, old, got["corresponding_account_id"])
}

func TestSpec_3_1_ActivationClosesTheOldCardAtExactlyZero(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, test := range []struct{ status, balance, want string }{
		{"active", "0", "closed"}, {"active", "1", "active"}, {"active", "-1", "active"}, {"suspected_fraud", "0", "suspected_fraud"},
	} {
		old := c.AddAccount(SeedAccount{Status: test.status, Balance: test.balance})
		replacement := c.AddAccount(SeedAccount{Status: "pre_active", CorrespondingAccountID: prepaid.AccountID(old)})
		c.ActivateThroughPortal(replacement)
		require.Equal(t, "active", c.Status(replacement))
		require.Equal(t, test.want, c.Status(old), test.balance)
	}
}

func TestSpec_2_2_FieldsAndOptionalGroups(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{
		Balance: "1", Key: "k", DisplayName: "d", NameOnCard: "N.N", MDESConfigID: "m", CorrespondingAccountID: "other", CardholderType: 2,
		FreeText: FreeText{Text1: "one", Dec2: "1.5"}, Portal: &PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"},
	})
	groups := map[string][]string{
		"with_personal": {"personal"}, "with_freetext": {"free_text"}, "with_tokeninfo": {"mdes_config_id"}, "with_cardholdertype": {"card_holder_type"},
		"with_bpay": {"bpay_biller_code", "bpay_reference_number"}, "with_directentry": {"direct_entry_bsb", "direct_entry_account_number"},
		"with_correspondingaccountid": {"corresponding_account_id"},
	}
	keys := func(path string) []string { return slices.Collect(maps.Keys(c.get(path).ok().object())) }
	always := keys("accounts/" + id)
	for flag, fields := range groups {
		require.ElementsMatch(t, append(slices.Clone(always), fields...), keys("accounts/"+id+"?"+flag+"=1"), flag)
	}
	for _, flag := range []string{"with_personal", "with_directentry", "with_freetext", "with_bpay"} {
		got := c.get("accounts?client_id=acme&client_account_key=k&" + flag + "=x").ok().list()
		require.ElementsMatch(t, append(slices.Clone(always), groups[flag]...), slices.Collect(maps.Keys(got[0])))
	}
	free := c.get("accounts/" + id + "?with_freetext=1").object()["free_text"].(map[string]any)
	require.Len(t, free, 12)
	require.Equal(t, "1.5", free["free_dec2"])
	c.get("accounts/nobody").refused(404, "account_not_found")
}

func TestSpec_4_4_SearchAccounts(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 7, ClientID: "seven"})
	first, second := c.AddAccount(SeedAccount{Key: "k"}), c.AddAccount(SeedAccount{Key: "k"})
	c.AddAccount(SeedAccount{Key: "other"})
	c.AddAccount(SeedAccount{Key: "k", CompanyID: 7})
	found := c.get("accounts?client_id=acme&client_account_key=k").ok().list()
	require.Len(t, found, 2)
	require.Equal(t, []any{first, second}, []any{found[0]["account_id"], found[1]["account_id"]})
	require.Len(t, c.get("accounts?client_id=seven&client_account_key=k").ok().list(), 1)
	for _, none := range []string{"client_id=acme&client_account_key=K", "client_id=nobody&client_account_key=k"} {
		c.get("accounts?" + none).empty(204)
	}
	for _, query := range []string{"client_id=acme", "client_id=acme&client_account_key=", "client_account_key=k", "client_account_key=k&client_id="} {
		require.Contains(t, c.get("accounts?"+query).refused(400, "invalid_request"), "is required")
	}
}

func TestSpec_4_4_SearchCompany_EachFilter(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.AddCompany(Company{ID: 7, ClientID: "seven", ProgramID: "p7"})
	person := func(first, last, mobile string) *Cardholder {
		return &Cardholder{FirstName: first, LastName: last, MobileNumber: mobile}
	}
	a := c.AddAccount(SeedAccount{CompanyID: 7, Cardholder: person("Ada", "Lovelace", "1")})
	require.Equal(t, "NSW", c.Account(a).Cardholder.PrimaryAddress.State, "a registration always has its required members")
	b := c.AddAccount(SeedAccount{CompanyID: 7, Status: "closed", Cardholder: person("Grace", "Hopper", "2")})
	d := c.AddAccount(SeedAccount{CompanyID: 7, Cardholder: person("Grace", "Murray", "1"), Portal: &PortalIdentifier{ClientID: "x", ProgramID: "portal-program", CardholderID: "y"}})
	c.AddAccount(SeedAccount{})
	find := func(query string) []string {
		got := c.get("accounts/company/7?" + query)
		if got.status == 204 {
			return nil
		}
		var ids []string
		for _, account := range got.ok().list() {
			ids = append(ids, account["account_id"].(string))
		}
		return ids
	}
	for query, want := range map[string][]string{
		"": {a, b, d}, "client_id=seven": {a, b, d}, "client_id=acme": nil, "program_id=p7": {a, b, d}, "program_id=portal-program": {d},
		"status=closed": {b}, "first_name=grace": {b, d}, "last_name=Hopper": {b}, "mobile=1": {a, d}, "mobile=1&first_name=Grace": {d}, "last_name=x": nil,
	} {
		require.Equal(t, want, find(query), query)
	}
	require.Empty(t, c.get("accounts/company/7").header.Get("X-TotalItems"))
	c.get("accounts/company/8").empty(204)
	c.get("accounts/company/seven").refused(400, "invalid_request")
	require.Contains(t, c.get("accounts/company/7?status=gone").refused(400, "invalid_request"), "status")

	paged := start(t, Options{Kind: true})
	paged.AddAccount(SeedAccount{})
	require.Equal(t, "1", paged.get("accounts/company/42").ok().header.Get("X-TotalItems"))
}

func TestSpec_4_4_UpdateAccount(t *testing.T) {
	t.Parallel()
	registration := `{"registration":{"first_name":"Grace","last_name":"Hopper","date_of_birth":"1906-12-09T00:00:00Z","primary_address":{"state":"NSW","country":"AU"}}}`
	for _, keep := range []bool{false, true} {
		c := start(t, Options{Kind: keep})
		id := c.AddAccount(SeedAccount{Key: "old", DisplayName: "name", Portal: &PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"}})
		c.do("PUT", "accounts/"+id, registration).empty(200)
		got := c.get("accounts/" + id + "?with_personal=1").object()
		personal := got["personal"].(map[string]any)
		require.Equal(t, "Grace", personal["first_name"])
		require.NotContains(t, personal, "mobile_number", "the registration is replaced whole")
		for _, name := range []string{"client_account_key", "display_name", "portal_identifier"} {
			require.Equal(t, keep, got[name] != nil, name)
		}
		c.do("PUT", "accounts/"+id, body(t, registration, map[string]any{"client_account_key": "new", "display_name": "", "initiating_user_id": "u"})).empty(200)
		c.get("accounts?client_id=acme&client_account_key=old").empty(204)
		require.Len(t, c.get("accounts?client_id=acme&client_account_key=new").list(), 1)
		require.NotContains(t, c.get("accounts/"+id).object(), "display_name")
		require.Contains(t, c.do("PUT", "accounts/"+id, `{}`).refused(400, "invalid_request"), "registration")
		c.do("PUT", "accounts/nobody", registration).refused(404, "account_not_found")
	}
}

func TestSpec_4_4_Plastic(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	id := c.AddAccount(SeedAccount{})
	c.do("PUT", "accounts/"+id+"/plastic", `{"plastic_enabled":false,"initiating_user_id":"u"}`).empty(200)
	require.Equal(t, false, c.get("accounts/" + id).object()["is_plastic_enabled"])
	c.do("PUT", "accounts/nobody/plastic", `{"plastic_enabled":false}`).refused(404, "account_not_found")
}

func TestSpec_4_4_Transactions(t *testing.T) {
	t.Parallel()
	origin := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	c := start(t, Options{StartAt: origin, FrozenClock: true, Kind: true, PageSizes: PageSizes{Least: 1, Normal: 2, Most: 10}})
	id := c.AddAccount(SeedAccount{})
	for i := range 5 {
		c.Adjust(id, strconv.Itoa(i+1))
		c.Advance(time.Minute + 200*time.Millisecond)
	}
	amounts := func(query url.Values) []string {
		query.Set("page_size", "10")
		got := c.get("accounts/" + id + "/transactions?" + query.Encode())
		if got.status == 204 {
			return nil
		}
		var list []string
		for _, item := range got.ok().list() {
			list = append(list, item["amount"].(json.Number).String())
		}
		return list
	}
	at := func(minutes, seconds int) string {
		return origin.Add(time.Duration(minutes)*time.Minute + time.Duration(seconds)*time.Second).Format("2006-01-02T15:04:05Z")
	}
	require.Equal(t, []string{"1.00", "2.00", "3.00", "4.00", "5.00"}, amounts(url.Values{}))
	require.Equal(t, []string{"2.00", "3.00"}, amounts(url.Values{"start_date": {at(1, 0)}, "end_date": {at(2, 0)}}), "both bounds are included")
	require.Equal(t, []string{"3.00", "4.00", "5.00"}, amounts(url.Values{"start_date": {at(1, 1)}}))
	require.Equal(t, []string{"1.00"}, amounts(url.Values{"end_date": {at(0, 59)}}))
	require.Nil(t, amounts(url.Values{"start_date": {at(9, 0)}}))
	half := func(minutes int) string { return strings.Replace(at(minutes, 0), "Z", ".500Z", 1) }
	require.Equal(t, []string{"3.00"}, amounts(url.Values{"start_date": {half(1)}, "end_date": {half(2)}}), "an item is compared as it is shown")
	require.Equal(t, []string{"5.00"}, amounts(url.Values{"start_date": {half(3)}}), "although the fourth is 600 ms after the minute")
	require.Nil(t, amounts(url.Values{"start_date": {at(3, 0)}, "end_date": {at(1, 0)}}))

	got := c.get("accounts/" + id + "/transactions?page_number=3").ok()
	require.Equal(t, "3", got.header.Get("X-TotalPages"))
	item := got.list()[0]
	require.Equal(t, map[string]any{
		"id": item["id"], "parent_id": "", "account_id": id, "type": "3900", "type_description": "Adjustment", "amount": json.Number("5.00"),
		"amount_currency": "AUD", "fee_amount": json.Number("0.00"), "fee_amount_currency": "AUD", "running_balance_amount": json.Number("15.00"),
		"running_balance_amount_currency": "AUD", "occurred_at": at(4, 0), "card_acceptor_id": "", "terminal_id": "", "acquirer_id": "",
		"merchant_category_code": "0000", "reference": "adjustment",
	}, item)
	for _, bad := range []string{"start_date=2030-01-01", "end_date=2030-01-01T00:00:00+10:00", "start_date=", "page_number=9"} {
		c.get("accounts/"+id+"/transactions?"+bad).refused(400, "invalid_request")
	}
	c.get("accounts/nobody/transactions").refused(404, "account_not_found")

	account := c.get("accounts/" + id).object()
	require.Equal(t, at(0, 0), account["first_transaction_occurred_at"])
	require.Equal(t, at(4, 0), account["last_transaction_occurred_at"])
	require.NotContains(t, fmt.Sprint(c.get("accounts/"+c.AddAccount(SeedAccount{})).object()), "transaction_occurred_at")
}
