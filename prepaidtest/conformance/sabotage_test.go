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
		for have := range r.header {
			if strings.EqualFold(have, name) {
				delete(r.header, have)
			}
		}
		if value != "" {
			r.header.Set(name, value)
		}
		return body
	}
}

func instead(body string) func(*altered, string) string {
	return func(*altered, string) string { return body }
}

func emptied(status int) func(*altered, string) string {
	return func(r *altered, _ string) string {
		r.status = status
		return ""
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
	const account, token = "2.2/account_without_groups", "4.1/token_is_issued"
	const report = "4.2/report_runs_once"
	return []sabotage{
		{"token renamed", "POST /token", replace("access_token", "accessToken"), token, "2.1"},
		{"token type", "POST /token", replace(`"bearer"`, `"Bearer "`), token, "2.1"},
		{"expiry as string", "POST /token", replace(`3600`, `"3600"`), token, "2.1"},
		{"token media type", "POST /token", header("Content-Type", "application/json"), token, "1"},
		{"wrong secret is 400", "POST /token", code(400), "4.1/wrong_secret", "4.1"},
		{"grant error renamed", "POST /token", replace("unsupported_grant_type", "invalid_grant"), "4.1/other_grant", "4.1"},
		{"error member renamed", "POST /token", replace(`"error":`, `"code":`), "4.1/missing_credentials", "7"},
		{"balance as string", "GET /accounts/", replace(`"balance":101`, `"balance":"101"`), account, "2.2"},
		{"account member renamed", "GET /accounts/", replace(`"plastic_expiry"`, `"expiry"`), account, "2.2"},
		{"status unknown", "GET /accounts/", replace(`"status":"active"`, `"status":"ok"`), account, "2.2"},
		{"boolean as string", "GET /accounts/", replace(`"is_plastic_enabled":true`, `"is_plastic_enabled":"true"`), account, "2.2"},
		{"date without zone", "GET /accounts/", replace(`00Z"`, `00+00:00"`), "4.4/get_account_with_personal", "2.3"},
		{"company as fraction", "GET /accounts/", replace(`"company_id":42`, `"company_id":42.0`), account, "2.2"},
		{"portal member gone", "GET /accounts/", replace(`"cardholder_id"`, `"holder"`), account, "2.7"},
		{"address member renamed", "GET /accounts/", replace(`"postcode"`, `"post_code"`), "4.4/get_account_with_personal", "2.4"},
		{"registration always sent", "GET /accounts/", replace(`"balance"`, `"personal":{},"balance"`), account, "2.2"},
		{"account media type", "GET /accounts/", header("Content-Type", "application/json"), account, "1"},
		{"free text member gone", "GET /accounts/", replace(`"free_dec2"`, `"free_dec3"`), "2.2/group_with_freetext", "2.6"},
		{"unknown account is 400", "GET /accounts/", code(400), "4.4/unknown_account_get", "4.4"},
		{"empty search is 200", "GET /accounts", code(200), "1/empty_search_is_204", "1"},
		{"no page size", "GET /transactions", header("X-PageSize", ""), "2.8/history", "1"},
		{"wrong total", "GET /transactions", header("X-TotalItems", "99"), "2.8/history", "1"},
		{"history amount as string", "GET /transactions", replace(`"fee_amount":0`, `"fee_amount":"0"`), "2.8/history", "2.8"},
		{"history currency", "GET /transactions", replace(`"AUD"`, `"aud"`), "2.8/history", "2.8"},
		{"category empty", "GET /transactions", replace(`"merchant_category_code":"0000"`, `"merchant_category_code":""`), "2.8/history", "2.8"},
		{"running balance", "GET /transactions", replace(`"running_balance_amount":101`, `"running_balance_amount":102`), "4.4/balance_is_the_last_running_balance", "2.8"},
		{"wallet token member", "GET /tokens", replace(`"secure_element"`, `"chip"`), "2.9/wallet_tokens", "2.9"},
		{"wallet member spelled right", "POST /wallet/", replace(`"pruduct_type"`, `"product_type"`), "4.4/wallet_is_provisioned", "4.4"},
		{"dip code", "POST /dip", replace("bad_account", "account_not_found"), "4.4/dip_bad_account", "4.4"},
		{"dip as JSON", "POST /dip", header("Content-Type", "application/vnd.vendor+json"), "4.4/dip_answers_data", "4.4"},
		{"mcc as string", "GET /mccodes", replace(`"code":`, `"code":"x","kode":`), "4.3/merchant_category_codes_in_pages", "2.10"},
		{"default action", "GET /policy", replace(`"allow"`, `"open"`), "4.3/reads_policy", "2.10"},
		{"ruleset type", "GET /restrictions", replace(`"open"`, `"allow"`), "4.3/reads_restrictions", "2.10"},
		{"policy change is 204", "POST /merchants", emptied(204), "4.3/changes_merchants", "4.3"},
		{"policy change has a body", "POST /categories", instead(`{}`), "4.3/changes_categories", "4.3"},
		{"cached response altered", "POST /transfer", distinct(), "8/request_id_is_answered_from_the_cache", "8"},
		{"transaction id as string", "POST /transfer", replace(`"transaction_id":`, `"transaction_id":"x","id":`), "8/request_id_is_answered_from_the_cache", "4.4"},
		{"created is 200", "POST /accounts", code(200), "4.4/create_account", "4.4"},
		{"created has the id", "POST /accounts", replace(`"balance"`, `"account_id":"E","balance"`), "4.4/create_account", "2.2"},
		{"record count wrong", "GET /reports/", replace(`"totalrecords":`, `"totalrecords":1`), report, "2.11"},
		{"report data renamed", "GET /reports/", replace(`"reportdata"`, `"data"`), report, "2.11"},
		{"report id as JSON", "GET /daily_settlement", header("Content-Type", "application/json"), report, "4.2"},
		{"duplicate is 400", "GET /daily_settlement", func(r *altered, body string) string {
			if r.status == http.StatusConflict {
				r.status = http.StatusBadRequest
			}
			return body
		}, report, "4.2"},
		{"outcome unknown", "POST /redemptions", replace(`"approved"`, `"ok"`), "4.5/redemption_and_reversal", "2.12"},
		{"id when declined", "POST /redemptions", replace(`"declined"`, `"declined","transaction_id":1`), "4.5/redemption_of_unknown_account_is_declined", "2.12"},
		{"approval without id", "POST /refunds", replace(`"transaction_id"`, `"id"`), "4.5/redemption_and_refund", "2.12"},
		{"advice code", "GET /transactions", replace(`"1120"`, `"1121"`), "4.6/purchase_and_advice", "4.6"},
		{"clear has an id", "POST /clear", replace(`"success"`, `"authorization_id":"1","success"`), "4.6/purchase_and_clear", "2.15"},
		{"hook without alert member", "GET /hooks", replace(`"last_undeliverable_timestamp"`, `"last"`), "2.13/hooks", "2.13"},
		{"message without hook", "GET /undeliverable", replace(`"hook_id"`, `"hook"`), "2.14/undeliverable_messages", "2.14"},
		{"hook code", "POST /hooks", replace("invalid_hmac_key_id", "invalid_request"), "4.8/invalid_hmac_key_id", "4.8"},
		{"delete is 200", "DELETE /hooks", code(200), "4.8/delete", "4.8"},
		{"patch is 204", "PATCH /hooks", emptied(204), "4.8/patch_keeps_the_rest", "4.8"},
		{"no ping", "POST /hooks", replace("no_response", "invalid_uri"), "4.8/no_response", "4.8"},
		{"pin error shape", "POST /pin/initiate", replace(`"error"`, `"message"`), "4.7/initiate_is_refused", "7"},
		{"bad token is 403", "GET /status", code(403), "5/token_is_required_by_GET_accounts_id_status", "5"},
		{"no error body", "POST /funding/refunds", instead(""), "5/token_is_required_by_POST_funding_refunds", "5"},
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
