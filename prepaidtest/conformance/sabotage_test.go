package conformance

import (
	"bytes"
	"crypto/rand"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
)

// sabotage is an error in the responses of an operation, the case that must find it and the section that it must name.
type sabotage struct {
	operation   string
	change      func(*check.Response)
	by, section string
}

func replace(old, with string) func(*check.Response) {
	return func(r *check.Response) { r.Body = bytes.ReplaceAll(r.Body, []byte(old), []byte(with)) }
}

func code(status int) func(*check.Response) {
	return func(r *check.Response) { r.Status = status }
}

func instead(status int, body string) func(*check.Response) {
	return func(r *check.Response) {
		r.Status, r.Body = status, []byte(body)
		r.Header.Set("Content-Type", r.MediaType)
	}
}

func sabotages() []sabotage {
	const report, cached, hook = "4.2/report_runs_once", "8/request_id_is_answered_from_the_cache", "4.8/hook"
	const funding, none = "4.5/redemptions_reversed_and_refunded", `{"error":"none"}`
	return []sabotage{
		{"Token", code(400), "4.1/wrong_secret", "4.1"},
		{"Token", replace("3600", "-3600"), "4.1/token_is_issued", "2.1"},
		{"Accounts.Get", replace(`"postcode"`, `"post_code"`), "4.4/Accounts.Get_with_personal", "2.4"},
		{"Accounts.Get", replace(`"balance"`, `"bpay_biller_code":"1","balance"`), "4.4/Accounts.Get", "2.2"},
		{"Accounts.Get", replace(`"bpay_biller_code":"`, `"display_name":"`), "4.4/Accounts.Get_with_bpay", "2.2"},
		{"Accounts.Get", code(400), "4.4/unknown_account_Accounts.Get", "4.4"},
		{"Accounts.Search", instead(404, none), "1/empty_search_is_204", "1"},
		{"Accounts.Search", replace(`"key 1"`, `"key 2"`), "4.4/search_by_key", "4.4"},
		{"Accounts.Transactions", func(r *check.Response) { r.Header.Set("X-TotalItems", "99") }, "4.4/Accounts.Transactions", "1"},
		{"Accounts.Transactions", replace(`"running_balance_amount":101`, `"running_balance_amount":102`),
			"4.4/balance_is_the_last_running_balance", "2.8"},
		{"Accounts.ExchangeKey", replace("bad_account", "bad_key_id"), "4.4/dip_bad_account", "4.4"},
		{"Accounts.Get", func(r *check.Response) { replace(`"display_name":"`, `"display_name":"`+rand.Text())(r) },
			"4.4/put_back_Accounts.SetPlasticEnabled", "4.4"},
		{"Policy.Merchants", replace(`"CONFORMANCE"`, `"OTHER"`), "4.3/changes_merchants", "4.3"},
		{"Accounts.Transfer", func(r *check.Response) { instead(200, `{"transaction_id":1,"correlation_id":"`+rand.Text()+`"}`)(r) }, cached, "8"},
		{"Accounts.Transfer", replace(`"transaction_id":`, `"id":`), cached, "4.4"},
		{"Accounts.Transfer", instead(200, `{"transaction_id":"","correlation_id":"c"}`), cached, "8"},
		{"Reporting.Result", replace(`"totalrecords":`, `"totalrecords":1`), report, "2.11"},
		{"Reporting.Start", func(r *check.Response) {
			if r.Status == 409 {
				r.Status = 400
			}
		}, report, "4.2"},
		{"Funding.Redeem", replace(`"declined"`, `"declined","transaction_id":1`), "4.5/redemption_of_unknown_account_is_declined", "2.12"},
		{"Funding.Refund", instead(200, `{"outcome":"approved"}`), funding, "2.12"},
		{"Funding.Reverse", instead(200, `{"outcome":"declined"}`), funding, "4.5"},
		{"Accounts.Transactions", replace(`"1120"`, `"1121"`), "4.6/purchase_and_advice", "4.6"},
		{"Simulation.Transact", replace("false", "true"), "4.6/unknown_account_is_no_success", "4.6"},
		{"Hooks.Get", replace(`"enabled":false`, `"enabled":true`), hook, "4.8"},
		{"Hooks.Get", replace(`"store_undeliverable"`, `"none"`), hook, "4.8"},
		{"Hooks.Delete", instead(401, none), hook, "4.8"},
		{"Hooks.Create", instead(201, `{"id":"`+unknownUUID+`"}`), "4.8/invalid_scope", "4.8"},
		{"Hooks.Create", replace("no_response", "invalid_uri"), noResponse, "4.8"},
		{"Hooks.Delete", instead(204, ""), "5/token_is_required_by_Hooks.Delete", "5"},
	}
}

func TestEverySabotageIsCaught(t *testing.T) {
	t.Parallel()
	for _, row := range sabotages() {
		t.Run(row.operation+" "+row.by, func(t *testing.T) {
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
	require.Empty(t, faultsOf(t, target, s.by), "the case must pass before")
	target.HTTPClient.Transport = tap{target.HTTPClient.Transport, func(r *check.Response) {
		if r.Operation.Name == s.operation {
			s.change(r)
		}
	}}
	found := faultsOf(t, target, s.by)
	var sections []string
	for _, fault := range found {
		sections = append(sections, fault.section)
		for _, secret := range []string{"Lovelace", "ada@", "512345", target.AccountID, target.ClientSecret} {
			require.NotContains(t, fault.String(), secret)
		}
	}
	require.Contains(t, sections, s.section, "faults: %v", found)
}
