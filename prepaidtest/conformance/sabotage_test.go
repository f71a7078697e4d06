package conformance

import (
	"errors"
	"io"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// broken is a transport that breaks responses to requests with this method and a path that contains path.
type broken struct {
	http.RoundTripper
	row sabotage
}

// RoundTrip implements http.RoundTripper.
func (b broken) RoundTrip(request *http.Request) (*http.Response, error) {
	r, err := b.RoundTripper.RoundTrip(request)
	method, path, _ := strings.Cut(b.row.request, " ")
	if err != nil || request.Method != method || !strings.Contains(request.URL.Path, path) {
		return r, err
	}
	body, err := io.ReadAll(r.Body)
	if err = errors.Join(err, r.Body.Close()); err != nil {
		return nil, err
	}
	a := &altered{r.StatusCode, r.Header}
	r.Body = io.NopCloser(strings.NewReader(b.row.change(a, string(body))))
	r.StatusCode = a.status
	return r, nil
}

// altered is the head of a response.
type altered struct {
	status int
	header http.Header
}

// sabotage is one error, the case that must find it and the section that it must name.
type sabotage struct {
	name, request string
	change        func(r *altered, body string) string
	by, section   string
}

func replace(old, with string) func(*altered, string) string {
	return func(_ *altered, body string) string { return strings.ReplaceAll(body, old, with) }
}

func code(status int) func(*altered, string) string {
	return func(r *altered, body string) string {
		r.status = status
		return body
	}
}

func header(name, value string) func(*altered, string) string {
	return func(r *altered, body string) string {
		r.header.Set(name, value)
		return body
	}
}

func instead(status int, body string) func(*altered, string) string {
	return func(r *altered, _ string) string {
		r.status = status
		if body != "" {
			r.header.Set("Content-Type", "application/vnd.vendor+json")
		}
		return body
	}
}

// distinct makes each response different.
func distinct() func(*altered, string) string {
	n := 0
	return func(_ *altered, body string) string {
		n++
		return strings.Replace(body, `"correlation_id":"`, `"correlation_id":"`+strconv.Itoa(n), 1)
	}
}

func sabotages() []sabotage {
	const report, cached = "4.2/report_runs_once", "8/request_id_is_answered_from_the_cache"
	return []sabotage{
		{"wrong secret is 400", "POST /token", code(400), "4.1/wrong_secret", "4.1"},
		{"grant error of another", "POST /token", replace("unsupported_grant_type", "invalid_request"), "4.1/other_grant", "4.1"},
		{"address member renamed", "GET /accounts/", replace(`"postcode"`, `"post_code"`), "4.4/Accounts.Get_with_personal", "2.4"},
		{"group always sent", "GET /accounts/", replace(`"balance"`, `"bpay_biller_code":"1","balance"`), "4.4/Accounts.Get", "2.2"},
		{"group never sent", "GET /accounts/", replace(`"bpay_biller_code":`, `"display_name":`), "4.4/Accounts.Get_with_bpay", "2.2"},
		{"unknown account is 400", "GET /accounts/", code(400), "4.4/unknown_account_Accounts.Get", "4.4"},
		{"empty search is 404", "GET /accounts", instead(404, `{"error":"none"}`), "1/empty_search_is_204", "1"},
		{"other account found", "GET /accounts", replace(`"key 1"`, `"key 2"`), "4.4/search_by_key", "4.4"},
		{"wrong total", "GET /transactions", header("X-TotalItems", "99"), "4.4/Accounts.Transactions", "1"},
		{"running balance", "GET /transactions", replace(`"running_balance_amount":101`, `"running_balance_amount":102`), "4.4/balance_is_the_last_running_balance", "2.8"},
		{"dip code of another", "POST /dip", replace("bad_account", "bad_key_id"), "4.4/dip_bad_account", "4.4"},
		{"policy change without effect", "GET /merchants", replace(`"CONFORMANCE"`, `"OTHER"`), "4.3/changes_merchants", "4.3"},
		{"policy change is 204", "POST /merchants", instead(204, ""), "4.3/changes_merchants", "4.3"},
		{"status changed", "PUT /status", instead(404, `{"error":"none"}`), "4.4/put_status", "4.4"},
		{"cached response altered", "POST /transfer", distinct(), cached, "8"},
		{"transfer failed", "POST /transfer", replace(`"transaction_id":`, `"transaction_id":"","id":`), cached, "4.4"},
		{"failed transfer is a success", "POST /transfer", instead(200, `{"transaction_id":"","correlation_id":"c"}`), cached, "8"},
		{"record count wrong", "GET /reports/", replace(`"totalrecords":`, `"totalrecords":1`), report, "2.11"},
		{"duplicate is 400", "GET /daily_settlement", func(r *altered, body string) string {
			if r.status == http.StatusConflict {
				r.status = http.StatusBadRequest
			}
			return body
		}, report, "4.2"},
		{"id when declined", "POST /redemptions", replace(`"declined"`, `"declined","transaction_id":1`), "4.5/redemption_of_unknown_account_is_declined", "2.12"},
		{"approval without id", "POST /refunds", instead(200, `{"outcome":"approved"}`), "4.5/redemption_and_refund", "2.12"},
		{"declined", "POST /reversals", instead(200, `{"outcome":"declined"}`), "4.5/redemption_and_reversal", "4.5"},
		{"advice code", "GET /transactions", replace(`"1120"`, `"1121"`), "4.6/purchase_and_advice", "4.6"},
		{"simulated for nobody", "POST /transact", replace("false", "true"), "4.6/unknown_account_is_no_success", "4.6"},
		{"hook enabled", "GET /hooks", replace(`"enabled":false`, `"enabled":true`), "4.8/create_read_delete", "4.8"},
		{"hook not changed", "GET /hooks", replace(`"store_undeliverable"`, `"none"`), "4.8/patch_keeps_the_rest", "4.8"},
		{"hook code of another", "POST /hooks", replace("invalid_hmac_key_id", "invalid_request"), "4.8/invalid_hmac_key_id", "4.8"},
		{"hook created", "POST /hooks", instead(201, `{"id":"00000000-0000-4000-8000-00000000c0de"}`), "4.8/invalid_scope", "4.8"},
		{"delete is 200", "DELETE /hooks", code(200), "4.8/create_read_delete", "4.8"},
		{"no ping", "POST /hooks", replace("no_response", "invalid_uri"), noResponse, "4.8"},
		{"bad token is 403", "GET /status", code(403), "5/token_is_required_by_Accounts.Summary", "5"},
		{"bad token is accepted", "DELETE /hooks", instead(204, ""), "5/token_is_required_by_Hooks.Delete", "5"},
		{"error member renamed", "POST /pin/initiate", replace(`"error"`, `"message"`), "4.7/initiate_is_refused", "7"},
	}
}

func TestEverySabotageIsCaught(t *testing.T) {
	t.Parallel()
	for _, row := range sabotages() {
		t.Run(row.name, func(t *testing.T) {
			t.Parallel()
			if row.by == noResponse {
				row.isCaught(t, emulator(t, prepaidtest.Options{}))
				return
			}
			synctest.Test(t, func(t *testing.T) { row.isCaught(t, emulator(t, prepaidtest.Options{InMemory: true})) })
		})
	}
}

func (s sabotage) isCaught(t *testing.T, target Target) {
	t.Helper()
	require.Equal(t, result{}, runCase(t, target, s.by), "the case must pass before")
	session, done := newSession(target)
	defer done()
	target.HTTPClient = &http.Client{Transport: broken{session.client.Transport, s}}
	got := runCase(t, target, s.by)
	sections := make([]string, 0, len(got.faults))
	for _, fault := range got.faults {
		sections = append(sections, fault.section)
		for _, secret := range []string{"Lovelace", "ada@", "512345", target.AccountID, target.ClientSecret} {
			require.NotContains(t, fault.String(), secret)
		}
	}
	require.Contains(t, sections, s.section, "faults: %v", got.faults)
}
