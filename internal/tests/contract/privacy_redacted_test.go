package contract

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// redactedAccount returns an account as in a response: some fields set, some not.
func redactedAccount() prepaid.Account {
	return prepaid.Account{
		ID: "eaid-1", CompanyID: 7, Balance: prepaid.Cents(2550), CardNumber: "5555********1234", Status: prepaid.AccountStatusActive, PlasticEnabled: true,
		PlasticExpiry: time.Date(2029, 1, 2, 0, 0, 0, 0, time.UTC), NameOnCard: "A.LEE", Compliant: new(false),
		Cardholder:       &prepaid.Cardholder{FirstName: "Ann", LastName: "Lee", PrimaryAddress: prepaid.Address{State: "WA", Country: "AU"}, DateOfBirth: prepaid.Date{Year: 1990, Month: 5, Day: 4}},
		PortalIdentifier: &prepaid.PortalIdentifier{ClientID: "c", ProgramID: "p", CardholderID: "h"},
	}
}

const redactedAccountText = `Account{ID:eaid-1 CompanyID:7 Balance:25.50 CardNumber:[REDACTED] PlasticExpiry:2029-01-02 00:00:00 +0000 UTC ` +
	`Status:active PlasticEnabled:true NameOnCard:[REDACTED] Compliant:false ` +
	`Cardholder:Cardholder{FirstName:[REDACTED] LastName:[REDACTED] PrimaryAddress:[REDACTED] DateOfBirth:[REDACTED]} ` +
	`PortalIdentifier:PortalIdentifier{ClientID:c ProgramID:p CardholderID:h}}`

// The printed text names the fields that are set, and marks the hidden ones.
func TestRedactedFormat(t *testing.T) {
	t.Parallel()
	account := redactedAccount()
	for _, row := range []struct {
		value any
		want  string
	}{
		{account, redactedAccountText},
		{&account, redactedAccountText},
		{[]prepaid.Account{{}, {ID: "a"}}, "[Account{} Account{ID:a}]"},
		{(*prepaid.Account)(nil), "<nil>"},
		{
			prepaid.DirectEntryOutParams{RequestID: "r", Amount: prepaid.Cents(100), Destination: prepaid.BankAccount{BSB: "062000", AccountName: "n"}},
			"DirectEntryOutParams{RequestID:r Amount:1.00 Destination:BankAccount{BSB:062000 AccountName:[REDACTED]}}",
		},
		{
			prepaid.IssueParams{Account: prepaid.CreateAccountParams{CompanyID: 7, Cardholder: &prepaid.Cardholder{Title: "Dr"}}, VisibleWithin: time.Second},
			"IssueParams{Account:CreateAccountParams{CompanyID:7 Cardholder:Cardholder{Title:[REDACTED]}} VisibleWithin:1s}",
		},
		{
			prepaid.SearchCompanyParams{Mobile: "x", Include: []prepaid.Include{prepaid.IncludeCardholder}, Paging: prepaid.Paging{Page: 2}},
			"SearchCompanyParams{Mobile:[REDACTED] Include:[with_personal] Paging:{Page:2 Size:0 Prefetch:0}}",
		},
		{
			&prepaid.Page[prepaid.Account]{Items: []prepaid.Account{{ID: "a", NameOnCard: "x"}}, Number: 1, TotalPages: 3},
			"Page{Items:[Account{ID:a NameOnCard:[REDACTED]}] Number:1 TotalPages:3}",
		},
		{prepaid.Message{ID: "m", Type: "transaction", Raw: []byte("{}")}, "Message{ID:m Type:transaction Raw:[REDACTED]}"},
		{&prepaid.RawResponse{StatusCode: 200, Body: []byte("x")}, "RawResponse{StatusCode:200 Body:[REDACTED]}"},
		{prepaid.Hook{ID: "h", URI: "https://ann:s3cr%40t@h.example:8443/a@b?c#d"}, "Hook{ID:h URI:https://[REDACTED]@h.example:8443/a@b?c#d}"},
		{
			prepaid.CreateHookParams{URI: "https://s3cret@h.example", Scope: []prepaid.CompanyID{7}, HMACKeySecret: prepaid.NewSecret("x")},
			"CreateHookParams{URI:https://[REDACTED]@h.example Scope:[7] HMACKeySecret:[REDACTED]}",
		},
		{prepaid.UpdateHookParams{URI: "https://ann:s3cret@h.example/%zz", Enabled: new(false)}, "UpdateHookParams{URI:[REDACTED] Enabled:false}"},
	} {
		require.Equal(t, row.want, fmt.Sprintf("%+v", row.value))
		if name, _, ok := strings.Cut(row.want, "{"); ok && name != "" && !strings.Contains(name, "[") { // its type has Format
			for _, verb := range []string{"%v", "%#v", "%s", "%q", "%x", "%9d"} {
				require.Equal(t, row.want, fmt.Sprintf(verb, row.value), verb)
			}
		}
	}
}

// slog gets the same as a group: nested, by name, with the values' own types in JSON.
func TestRedactedLogValue(t *testing.T) {
	t.Parallel()
	account := redactedAccount()
	for _, value := range []any{account, &account} {
		require.Equal(t, `{"account":{"ID":"eaid-1","CompanyID":7,"Balance":25.50,"CardNumber":"[REDACTED]",`+
			`"PlasticExpiry":"2029-01-02T00:00:00Z","Status":"active","PlasticEnabled":true,"NameOnCard":"[REDACTED]","Compliant":false,`+
			`"Cardholder":{"FirstName":"[REDACTED]","LastName":"[REDACTED]","PrimaryAddress":"[REDACTED]","DateOfBirth":"[REDACTED]"},`+
			`"PortalIdentifier":{"ClientID":"c","ProgramID":"p","CardholderID":"h"}}}`, logged(t, value))
	}
	page := prepaid.Page[prepaid.Account]{Items: []prepaid.Account{account}, Number: 2, TotalPages: 3, TotalItems: 21}
	for _, value := range []any{page, &page} {
		require.Equal(t, `{"account":{"number":2,"items":1,"total_pages":3,"total_items":21}}`, logged(t, value))
	}
	require.Equal(t, `{"account":{"URI":"https://[REDACTED]@h.example/","Scope":[7]}}`,
		logged(t, prepaid.UpdateHookParams{URI: "https://ann:s3cret@h.example/", Scope: []prepaid.CompanyID{7}}))
}

// logged returns slog's output for value, without time, level and message.
func logged(t *testing.T, value any) string {
	t.Helper()
	var out bytes.Buffer
	slog.New(slog.NewJSONHandler(&out, &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && a.Key != "account" {
			return slog.Attr{}
		}
		return a
	}})).Info("m", "account", value)
	return strings.TrimSpace(out.String())
}

// An APIError prints status and code. An unlisted code is printed, for support cases, if it has the form of a code; other text
// may be an echo of the request. The fields have the complete text.
func TestRedactedAPIError(t *testing.T) {
	t.Parallel()
	for code, want := range map[prepaid.ErrorCode]string{
		"": "prepaid: status 400", prepaid.CodeInvalidURI: "prepaid: status 400 (invalid_uri)", "card_blocked": "prepaid: status 400 (card_blocked)",
		"Ann Lee": "prepaid: status 400 (unlisted code)", "4821": "prepaid: status 400 (unlisted code)", "a@b": "prepaid: status 400 (unlisted code)",
		"a\nb": "prepaid: status 400 (unlisted code)", prepaid.ErrorCode(strings.Repeat("a", 64)): "prepaid: status 400 (" + strings.Repeat("a", 64) + ")",
		prepaid.ErrorCode(strings.Repeat("a", 65)): "prepaid: status 400 (unlisted code)",
	} {
		failure := &prepaid.APIError{StatusCode: 400, Code: code, Description: "description", Body: []byte("body")}
		require.Equal(t, want, failure.Error())
		require.Equal(t, want+" "+want+" "+want, fmt.Sprintf("%+v %#v %s", failure, *failure, failure))
		require.Contains(t, logged(t, failure), `"error":"`+want+`"}}`)
		require.NotContains(t, logged(t, failure), "description")
		require.Equal(t, `{"account":{"E":"`+want+`"}}`, logged(t, struct{ E error }{failure}))
	}
}

// DecodeError.MediaType is kept if it has the form of a media type.
func TestRedactedMediaType(t *testing.T) {
	t.Parallel()
	long := "text/" + strings.Repeat("x", 100)
	for mediaType, want := range map[string]string{
		"": "", "text/html; charset=utf-8": "text/html", "application/vnd.vendor+json": "application/vnd.vendor+json", "ann": "?", long: "?", "a/b@c": "?", "a/b, C/D": "a/b, c/d", "a/b, ann": "?",
	} {
		client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(harness.Respond(200, mediaType, "ann"))))
		_, err := client.Accounts.Get(t.Context(), "acc-1")
		failure := harness.As[*prepaid.DecodeError](t, err)
		require.Equal(t, want, failure.MediaType, mediaType)
	}
}
