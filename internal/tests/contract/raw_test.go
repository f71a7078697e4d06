package contract

import (
	"context"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// sentAs are the values of an operation's Go method; body is the same request's for Client.Do, by default the last value. more embeds it.
type sentAs struct {
	values []any
	body   any
	more   any
}

// bodies has the operations with a body.
func bodies() map[string]sentAs {
	rules := func(add, remove int) (r prepaid.ChangeRulesParams[prepaid.TerminalRule]) {
		terminal := prepaid.TerminalRule{ID: 9, AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1", CardAcceptorNameLocation: "SYDNEY", Description: "till"}
		return prepaid.ChangeRulesParams[prepaid.TerminalRule]{
			Reason: "r", RequireApproval: true, Add: slices.Repeat([]prepaid.TerminalRule{terminal}, add), Remove: slices.Repeat([]prepaid.TerminalRule{terminal}, remove),
		}
	}
	merchants := []prepaid.MerchantRule{{ID: 9, AcquirerID: 1, CardAcceptorID: "SHOP", Description: "shop"}}
	change := prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: merchants, Remove: merchants}
	codes := prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"0742", "7995"}, Remove: []prepaid.MCC{"5411"}, Reason: "<r>"}
	create := prepaid.CreateAccountParams{
		CompanyID: 7, InitialLoadAmount: prepaid.MustAmount("10.5"), Cardholder: fixtureCardholder(), PlasticEnabled: new(false),
		GiftCardExpiry: time.Date(2029, 1, 2, 3, 4, 5, 6, time.FixedZone("", 3600)), CardholderType: prepaid.CardholderTypePrimary,
	}
	update := prepaid.UpdateAccountParams{Cardholder: fixtureLeastCardholder(), DisplayName: new("")}
	wallet := prepaid.ProvisionWalletParams{Nonce: "n", Certificates: []string{"c"}}
	hook := prepaid.CreateHookParams{
		URI: "https://example.com/<a>&", Scope: []prepaid.CompanyID{1}, FilterSpec: "*", ReliabilityMode: prepaid.ReliabilityModeNone, HMACKeyID: "k",
		HMACKeySecret: prepaid.NewSecret(strings.Repeat("0a", 32)),
	}
	patch := prepaid.UpdateHookParams{Enabled: new(false), HMACKeySecret: hook.HMACKeySecret}
	key := harness.KeyExchange()
	type terminals = prepaid.ChangeRulesParams[prepaid.TerminalRule]
	type sealed struct {
		prepaid.SealedPINParams
		New string `json:"new"`
	}
	dismissed := struct {
		IDs []prepaid.MessageID `json:"message_ids"`
	}{[]prepaid.MessageID{"m"}}
	return map[string]sentAs{
		"Policy.ChangeCategories": {values: []any{7, codes}, more: struct {
			prepaid.ChangeRulesParams[prepaid.MCC]
			New string `json:"new"`
		}{codes, "x"}},
		"Policy.ChangeMerchants": {values: []any{7, change}, more: struct {
			*prepaid.ChangeRulesParams[prepaid.MerchantRule]
			New string `json:"new"`
		}{&change, "x"}},
		"Policy.ChangeTerminals": {values: []any{7, rules(2, 1)}, more: struct {
			terminals
			New string `json:"new"`
		}{rules(2, 1), "x"}},
		"Accounts.Create": {values: []any{create}, more: struct {
			prepaid.CreateAccountParams
			New string `json:"new"`
		}{create, "x"}},
		"Accounts.Update": {values: []any{"EA-1", update}, more: struct {
			*prepaid.UpdateAccountParams
			New string `json:"new"`
		}{&update, "x"}},
		"Accounts.SetStatus":         {values: []any{"EA-1", prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed}}},
		"Accounts.SetPlasticEnabled": {values: []any{"EA-1", prepaid.SetPlasticEnabledParams{InitiatingUserID: "u"}}},
		"Accounts.ProvisionWallet":   {values: []any{"EA-1", "p", wallet}},
		"Accounts.ExchangeKey": {values: []any{"EA-1", key}, more: struct {
			prepaid.ExchangeKeyParams
			New string `json:"new"`
		}{key, "x"}},
		"PIN.Initiate": {values: []any{validInitiate()}},
		"PIN.Validate": {values: []any{validSealed()}, more: sealed{validSealed(), "x"}},
		"PIN.Execute":  {values: []any{validSealed()}, more: &sealed{validSealed(), "x"}},
		"Hooks.Create": {values: []any{hook}},
		"Hooks.Update": {values: []any{"h", patch}, more: struct {
			prepaid.UpdateHookParams
			New string `json:"new"`
		}{patch, "x"}},
		"Hooks.Dismiss": {values: []any{"h", "m"}, body: dismissed},
	}
}

// Client.Do sends the bytes of the operation's method, also if a struct of the caller's embeds the params and adds a member.
func TestRawCallSendsAsTheMethod(t *testing.T) {
	t.Parallel()
	others := map[string][]any{
		"Reporting.Start": {"t", prepaid.StartReportParams{IncludeColumnHeaders: true}}, "Reporting.Result": {prepaid.ReportRun{Template: "t", ID: "r"}},
		"Policy.MerchantCategoryCodes": {prepaid.Paging{}}, "Hooks.List": {prepaid.Paging{Page: 2}}, "Hooks.Undeliverable": {"h", prepaid.Paging{}},
		"Accounts.Search":        {prepaid.SearchAccountsParams{ProgramClientID: "c&", ClientAccountKey: "k +"}},
		"Accounts.SearchCompany": {7, prepaid.SearchCompanyParams{FirstName: "Ж"}}, "Accounts.Get": {"EA-1", prepaid.IncludeBPay},
		"Accounts.Transactions": {"EA-1", prepaid.ListTransactionsParams{From: fixtureTime(2026, 1, 2, 3, 4, 5)}},
	}
	withBody, compared := bodies(), 0
	sent := func(call func(context.Context, *prepaid.Client) error) harness.Request {
		script := harness.NewScript(harness.Respond(400, harness.VendorJSON, `{"error":"x"}`))
		script.CountReads = true
		_ = call(t.Context(), script.Client(t))
		require.Len(t, script.Requests(), 1)
		return script.Requests()[0].Request
	}
	for _, o := range operations.All() {
		if !callable(o) {
			continue
		}
		row, ok := withBody[o.Name]
		if !ok {
			row.values = others[o.Name]
		}
		if row.values == nil {
			row.values = []any{harness.OnlyID(o.Name, prepaid.AccountID("EA-1"), prepaid.CompanyID(7), prepaid.HookID("h"))}
		}
		want := sent(harness.Calling(o.Name, row.values...))
		path, query, _ := strings.Cut(strings.TrimPrefix(want.Target, "/3.0"), "?")
		r := prepaid.RawRequest{Method: o.Method, Path: o.Path, PathValues: map[string]string{}, Body: row.body}
		values := strings.Split(path, "/")
		for i, segment := range strings.Split(o.Path, "/") {
			if name := strings.Trim(segment, "{}"); name != segment {
				r.PathValues[name] = values[i]
			}
		}
		var err error
		r.Query, err = url.ParseQuery(query)
		require.NoError(t, err)
		if ok && r.Body == nil {
			r.Body = row.values[len(row.values)-1]
		}
		do := func(ctx context.Context, client *prepaid.Client) error { return client.Do(ctx, r, nil) }
		require.Equal(t, want, sent(do), o.Name)
		if row.more != nil {
			r.Body, want.Body = row.more, strings.TrimSuffix(want.Body, "}")+`,"new":"x"}`
			require.Equal(t, want, sent(do), o.Name)
		}
		compared++
	}
	require.Equal(t, 33, compared)
}
