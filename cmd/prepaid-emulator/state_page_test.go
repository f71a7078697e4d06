package main

import (
	"encoding/json"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/caller"
)

func TestTheCardIsUsedWithoutScript(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z", "-simulation-delay", "30s", "-log", "off")
	account := "/accounts/" + ada
	use := func(form ...string) caller.Reply {
		values := url.Values{}
		for i := 0; i < len(form); i += 2 {
			values.Set(form[i], form[i+1])
		}
		return p.Press(account+"/simulate", values.Encode())
	}
	require.Contains(t, p.Get(account).Body, "after each of 1 movement, AUD")
	require.Contains(t, use("do", "purchase", "amount", "18.90", "merchant", "BOOKSHOP000001", "category", "5942").Body, "−18.90")
	bought := p.Get(account).Body
	require.Contains(t, bought, "after each of 2 movements, AUD")
	require.Contains(t, bought, "BOOKSHOP000001")
	require.Contains(t, bought, "Purchase authorisation −18.90, then 1,231.50")
	id := regexp.MustCompile(`name="authorization_id" value="(\d+)"`).FindStringSubmatch(bought)
	require.Len(t, id, 2)
	require.Contains(t, use("do", "reverse", "authorization_id", id[1], "amount", "8.90").Body, `value="10.00"`, "the rest is open")
	require.Contains(t, use("do", "clear", "authorization_id", id[1], "amount", "10").Body, "clearing is accepted")
	require.NotContains(t, p.Get(account).Body, "Clearing credit back")
	require.Contains(t, p.Press("/clock", "by=1m").Body, "08:01:00")
	cleared := p.Get(account).Body
	require.Contains(t, cleared, "Clearing credit back")
	require.NotContains(t, cleared, "Open authorisations")
	require.Contains(t, use("do", "refund", "amount", "+05").Body, "Point of sale credit")

	for want, form := range map[string][]string{
		"must be a number above zero, such as 18.90": {"do", "purchase", "amount", "-3"},
		"must be a number above zero":                {"do", "refund", "amount", "0.00"},
		"must have four digits":                      {"do", "purchase", "amount", "1", "category", "12"},
		"too long":                                   {"do", "purchase", "amount", "1", "place", strings.Repeat("x", 101)},
		"the balance is only 1,245.40 AUD":           {"do", "purchase", "amount", "2000"},
		"no such authorisation":                      {"do", "reverse", "authorization_id", "none"},
		"there is no matching purchase":              {"do", "reverse", "authorization_id", id[1], "amount", "1"},
		"such as 10.00":                              {"do", "clear", "authorization_id", id[1], "amount", "much"},
		"Choose purchase, refund":                    {"do", "steal"},
	} {
		got := use(form...)
		require.Equal(t, http.StatusUnprocessableEntity, got.Status, want)
		require.Contains(t, got.Body, want)
		for i := 2; i < len(form); i += 2 {
			if form[i] != "authorization_id" && form[1] != "reverse" && form[1] != "clear" {
				require.Contains(t, got.Body, `value="`+form[i+1]+`"`, "what was typed stays")
			}
		}
	}

	p.Call("POST", "policy/42/categories", `{"reason":"r","add":[7995]}`)
	require.Contains(t, use("do", "purchase", "amount", "1", "category", "7995").Body, "Declined by the policy of the company")
	p.Press(account+"/status", "status=closed")
	closed := p.Get(account).Body
	require.Contains(t, closed, "because the account is closed. Set the status to active")
	require.Contains(t, closed, "<fieldset disabled")
	require.NotContains(t, closed, `<option value="closed"`, "it is closed already")
	require.Contains(t, closed, "The portal cannot activate this card")
	require.Contains(t, use("do", "purchase", "amount", "1").Body, "because the account is closed")
	p.Press(account+"/status", "status=active")
	p.Call("PUT", "accounts/"+ada+"/plastic", `{"plastic_enabled":false}`)
	require.Contains(t, p.Get(account).Body, "because the plastic is off")
}

// Over HTTP, a test in any language can simulate card use and list running requests.
func TestStateInJSON(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-start-at", "2030-01-31T08:00:00Z", "-rate-limit", "1000", "-log", "off")
	var account struct {
		Balance        json.Number
		Authorizations []struct {
			ID     string `json:"authorization_id"`
			Amount json.Number
			State  string
		}
	}
	read := func(got caller.Reply, into any) {
		require.Equal(t, []any{http.StatusOK, "application/json"}, []any{got.Status, got.Header.Get("Content-Type")})
		require.NoError(t, json.Unmarshal([]byte(got.Body), into))
	}
	read(p.Control("/accounts/"+grace+"/simulate", "do=purchase&amount=12.50"), &account)
	require.Equal(t, []any{json.Number("67.50"), "open"}, []any{account.Balance, account.Authorizations[0].State})
	read(p.Control("/accounts/"+grace+"/simulate", "do=reverse&authorization_id="+account.Authorizations[0].ID), &account)
	require.Equal(t, []any{json.Number("80.00"), "reversed"}, []any{account.Balance, account.Authorizations[0].State})
	got := p.Control("/accounts/"+grace+"/simulate", "do=purchase&amount=81")
	require.Equal(t, http.StatusUnprocessableEntity, got.Status)
	require.JSONEq(t, `{"error":"Declined: the balance is only 80.00 AUD."}`, got.Body)

	var transfers struct {
		Armed []struct {
			Operation, Fault string
			Left             int
		}
		Running []struct {
			RequestID string `json:"request_id"`
			LeftMS    int    `json:"left_ms"`
		}
		PaidTwice []string `json:"paid_twice"`
	}
	read(p.Control("/transfers/hold", "operation=POST /accounts/{id}/transfer"), &transfers)
	require.Empty(t, transfers.Running)
	require.Len(t, transfers.Armed, 1)
	require.Equal(t, []any{"POST /accounts/{id}/transfer", "proxy-page 502 commit-after 30s", 1},
		[]any{transfers.Armed[0].Operation, transfers.Armed[0].Fault, transfers.Armed[0].Left})
	pay := `{"amount":1,"source_reference":"s","destination_reference":"d","destination_account_id":"` + grace + `","transaction_type":1,"request_id":"r-1"}`
	require.Equal(t, http.StatusBadGateway, p.Call("POST", "accounts/"+ada+"/transfer", pay).Status)
	inJSON := http.Header{"Accept": {"application/json"}}
	read(p.Send("GET", p.Page+"transfers", "", inJSON), &transfers)
	require.Empty(t, transfers.Armed)
	require.Equal(t, "r-1", transfers.Running[0].RequestID)
	require.Greater(t, transfers.Running[0].LeftMS, 1000)
	require.Equal(t, http.StatusUnprocessableEntity, p.Control("/transfers/hold", "operation=*").Status)
	require.Contains(t, p.Get("/accounts/"+ada).Body, "1 transfer from this account is still running")
	require.Contains(t, p.Get("/transfers").Body, "is carried out in")

	var access struct {
		Tokens  []struct{ Requests int }
		Windows []struct{ Used, Limit, Refused int } `json:"rate_windows"`
	}
	read(p.Send("GET", p.Page+"access", "", inJSON), &access)
	require.Equal(t, []struct{ Requests int }{{1}}, access.Tokens)
	require.Equal(t, []struct{ Used, Limit, Refused int }{{2, 1000, 0}}, access.Windows)
	require.Contains(t, p.Get("/access").Body, `action="/access/revoke"`)
	read(p.Control("/access/revoke", ""), &access)
	require.Empty(t, access.Tokens)
	require.Equal(t, http.StatusUnauthorized, p.Call("GET", "accounts/"+ada, "").Status)
}

func TestTheRateLimitIsShown(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-rate-limit", "2", "-start-at", "2030-01-31T08:00:00Z", "-log", "off")
	require.Contains(t, p.Get("/access").Body, "Nothing is counted")
	for range 4 {
		p.Send("GET", p.Page+"3.0/nowhere", "", http.Header{})
	}
	full := p.Get("/access").Body
	require.Contains(t, full, `<meter id="used-127.0.0.1" min="0" max="2" value="2">`)
	require.Contains(t, full, "given 2 times")
	require.Contains(t, full, "the window ends in 10 s")
	require.Contains(t, p.Press("/clock", "by=1m").Body, "08:01:00")
	require.Contains(t, p.Get("/access").Body, "no window is open")
}

func TestReportsAreDownloaded(t *testing.T) {
	t.Parallel()
	p := launch(t, "-frozen-clock", "-report-delay", "1m", "-log", "off")
	require.Contains(t, p.Get("/reports").Body, "No report was run yet")
	run := p.Call("GET", "reporting/templates/daily_settlement?include_column_headers=true", "").Body
	require.Contains(t, p.Get("/reports").Body, ">processing<")
	require.Equal(t, http.StatusNotFound, p.Get("/reports/"+run).Status)
	p.Press("/clock", "by=1m")
	require.Contains(t, p.Get("/reports").Body, `href="/reports/`+run)
	file := p.Get("/reports/" + run)
	require.Equal(t, "text/csv; charset=utf-8", file.Header.Get("Content-Type"))
	require.True(t, strings.HasPrefix(file.Body, "id,parent_id,account_id,"), file.Body)
	p.Press("/clock", "by=24h")
	require.Contains(t, p.Get("/reports").Body, ">expired<")
	require.Equal(t, http.StatusNotFound, p.Get("/reports/"+run).Status)
	require.Equal(t, http.StatusNotFound, p.Get("/companies/7").Status)
}

func TestThePageStandsForTheCardholdersPhone(t *testing.T) {
	t.Parallel()
	p := launch(t, "-log", "off")
	certificate := p.Get("/pin-certificate.pem")
	require.Equal(t, "application/x-pem-file", certificate.Header.Get("Content-Type"))
	require.Contains(t, certificate.Body, "BEGIN CERTIFICATE")
	require.NotContains(t, certificate.Body, "PRIVATE")
	require.Contains(t, p.Get("/accounts/"+ada).Body, "None is pending")

	p.Call("POST", "pin/initiate", `{"eaid":"`+ada+`","device_id":"phone-1","ip_address":"192.0.2.1","communication_method":"sms"}`)
	account := p.JSON("accounts/" + ada)
	otp := regexp.MustCompile(`"otp":"([0-9]{6})"`).FindStringSubmatch(account)
	require.Len(t, otp, 2, account)
	page := p.Get("/accounts/" + ada).Body
	require.Contains(t, page, "<code>"+otp[1]+"</code>")
	require.Regexp(t, `Fingerprint <code>[0-9a-f]{64}</code>`, page)
	for _, path := range []string{"/", "/accounts", "/requests", "/requests/1", "/requests/2", "/accounts/" + grace} {
		require.NotContains(t, p.Get(path).Body, otp[1], path)
	}
}
