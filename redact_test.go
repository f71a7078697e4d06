package prepaid

import (
	"bytes"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// redactedAccount is as an account comes: some fields set, some not.
func redactedAccount() Account {
	return Account{
		ID: "eaid-1", CompanyID: 7, Balance: Cents(2550), CardNumber: "5555********1234", Status: AccountStatusActive, PlasticEnabled: true,
		PlasticExpiry: time.Date(2029, 1, 2, 0, 0, 0, 0, time.UTC), NameOnCard: "A.LEE", Compliant: new(false),
		Personal:         &Cardholder{FirstName: "Ann", LastName: "Lee", PrimaryAddress: Address{State: "WA", Country: "AU"}, DateOfBirth: Date{1990, 5, 4}},
		PortalIdentifier: &PortalIdentifier{ClientID: "c", ProgramID: "p", CardholderID: "h"},
	}
}

const redactedAccountText = `Account{ID:eaid-1 CompanyID:7 Balance:25.50 CardNumber:[REDACTED] PlasticExpiry:2029-01-02 00:00:00 +0000 UTC ` +
	`Status:active PlasticEnabled:true NameOnCard:[REDACTED] Compliant:false ` +
	`Personal:Cardholder{FirstName:[REDACTED] LastName:[REDACTED] PrimaryAddress:[REDACTED] DateOfBirth:[REDACTED]} ` +
	`PortalIdentifier:&{ClientID:c ProgramID:p CardholderID:h}}`

// What prints is of use: the fields that are set, by name, and a mark for what is hidden.
func TestRedactedFormat(t *testing.T) {
	t.Parallel()
	account := redactedAccount()
	address := Address{Line1: "1 A St", Postcode: "6000"}
	for _, row := range []struct {
		value any
		want  string
	}{
		{account, redactedAccountText},
		{&account, redactedAccountText},
		{[]Account{{}, {ID: "a"}}, "[Account{} Account{ID:a}]"},
		{map[string]*Account{"k": {CardNumber: "x"}}, "map[k:Account{CardNumber:[REDACTED]}]"},
		{Account{}, "Account{}"},
		{(*Account)(nil), "<nil>"},
		{AccountSummary{ExternalAccountID: "x", CardNumber: "1"}, "AccountSummary{ExternalAccountID:x CardNumber:[REDACTED]}"},
		{address, "Address{Line1:[REDACTED] Postcode:[REDACTED]}"},
		{Passport{Number: "x"}, "Passport{Number:[REDACTED]}"},
		{FreeText{Text3: "x", Int1: "1"}, "FreeText{Text3:[REDACTED] Int1:[REDACTED]}"},
		{BankAccount{BSB: "062000", AccountNumber: "1", AccountName: "n"}, "BankAccount{BSB:062000 AccountNumber:[REDACTED] AccountName:[REDACTED]}"},
		{
			DirectEntryOutParams{RequestID: "r", Amount: Cents(100), Destination: BankAccount{BSB: "062000", AccountName: "n"}},
			"DirectEntryOutParams{RequestID:r Amount:1.00 Destination:BankAccount{BSB:062000 AccountName:[REDACTED]}}",
		},
		{
			IssueParams{Account: CreateAccountParams{CompanyID: 7, Registration: &Cardholder{Title: "Dr"}}, Settle: time.Second},
			"IssueParams{Account:CreateAccountParams{CompanyID:7 Registration:Cardholder{Title:[REDACTED]}} Settle:1s}",
		},
		{&Issued{Account: &Account{ID: "a", CardNumber: "x"}, Created: true}, "Issued{Account:Account{ID:a CardNumber:[REDACTED]} Created:true}"},
		{
			UpdateAccountParams{ClientAccountKey: new("k"), DisplayName: new("x"), PortalIdentifier: &PortalIdentifier{}},
			"UpdateAccountParams{ClientAccountKey:k DisplayName:[REDACTED] PortalIdentifier:&{ClientID: ProgramID: CardholderID:}}",
		},
		{UpdateAccountParams{ClientAccountKey: new("")}, "UpdateAccountParams{ClientAccountKey:}"}, // "" is sent, nil is not
		{
			SearchCompanyParams{Mobile: "x", Include: []Include{IncludePersonal}, Paging: Paging{Page: 2}},
			"SearchCompanyParams{Mobile:[REDACTED] Include:[with_personal] Paging:{Page:2 Size:0 Prefetch:0}}",
		},
		{
			&Page[Account]{Items: []Account{{ID: "a", NameOnCard: "x"}}, Number: 1, TotalPages: 3},
			"Page{Items:[Account{ID:a NameOnCard:[REDACTED]}] Number:1 TotalPages:3}",
		},
		{WalletToken{Device: WalletDevice{ID: "d", Name: "Ann's phone"}, Status: "active"}, "WalletToken{Device:WalletDevice{ID:[REDACTED] Name:[REDACTED]} Status:active}"},
		{WalletProvisioning{PANLastFour: "1234", Provider: "p"}, "WalletProvisioning{PANLastFour:[REDACTED] Provider:p}"},
		{ProvisionWalletParams{Certificates: []string{"x"}, InitiatingUserID: "u"}, "ProvisionWalletParams{InitiatingUserID:u Certificates:[REDACTED]}"},
		{KeyExchange{Data: []byte("x"), MediaType: "a/b"}, "KeyExchange{Data:[REDACTED] MediaType:a/b}"},
		{&PINResponse{StatusCode: 200, Raw: []byte("x")}, "PINResponse{StatusCode:200 Raw:[REDACTED]}"},
		{InitiatePINParams{AccountID: "a", IPAddress: "x"}, "InitiatePINParams{AccountID:a IPAddress:[REDACTED]}"},
		{Message{ID: "m", Type: "transaction", Raw: []byte("{}")}, "Message{ID:m Type:transaction Raw:[REDACTED]}"},
		{&Response{Operation: "Accounts.Get", StatusCode: 200, Body: []byte("x")}, "Response{Operation:Accounts.Get StatusCode:200 Body:[REDACTED]}"},
		{Report{Data: "a,b\n", TotalRecords: 1}, "Report{Data: 4 bytes, TotalRecords: 1}"},
		{Hook{ID: "h", URI: "https://ann:s3cr%40t@h.example:8443/a@b?c#d"}, "Hook{ID:h URI:https://[REDACTED]@h.example:8443/a@b?c#d}"},
		{Hook{URI: "https://h.example/?c=a:b@d"}, "Hook{URI:https://h.example/?c=a:b@d}"},
		{CreateHookParams{URI: "ann:s3cret@h.example"}, "CreateHookParams{URI:[REDACTED]}"}, // no address without its host
		{CreateHookParams{URI: "s3cret@h.example/a"}, "CreateHookParams{URI:[REDACTED]}"},
		{UpdateHookParams{URI: "https:ann:s3cret@h.example"}, "UpdateHookParams{URI:[REDACTED]}"},
		{UpdateHookParams{URI: "https:///ann:s3cret@h.example"}, "UpdateHookParams{URI:[REDACTED]}"},
		{&Hook{URI: "https://h.example/a@b"}, "Hook{URI:https://h.example/a@b}"},
		{
			CreateHookParams{URI: "https://s3cret@h.example", Scope: []CompanyID{7}, HMACKeySecret: NewSecret("x")},
			"CreateHookParams{URI:https://[REDACTED]@h.example Scope:[7] HMACKeySecret:[REDACTED]}",
		},
		{UpdateHookParams{URI: "https://ann:s3cret@h.example/%zz", Enabled: new(false)}, "UpdateHookParams{URI:[REDACTED] Enabled:false}"},
		{ExchangeKeyParams{KeyID: "k", EphemeralKey: NewSecret("x")}, "{ApplicationID: KeyID:k EphemeralKey:[REDACTED]}"},
		{PINSecret{OTP: NewSecret("1"), PIN: NewSecret("2")}, "{OTP:[REDACTED] PIN:[REDACTED]}"},
		{Credentials{ClientID: "id", ClientSecret: NewSecret("x")}, "{ClientID:id ClientSecret:[REDACTED]}"},
	} {
		require.Equal(t, row.want, fmt.Sprintf("%+v", row.value))
		if name, _, ok := strings.Cut(row.want, "{"); ok && name != "" && !strings.Contains(name, "[") { // not a type of fmt's own form
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
			`"Personal":{"FirstName":"[REDACTED]","LastName":"[REDACTED]","PrimaryAddress":"[REDACTED]","DateOfBirth":"[REDACTED]"},`+
			`"PortalIdentifier":{"client_id":"c","program_id":"p","cardholder_id":"h"}}}`, logged(t, value, false))
		text := logged(t, value, true)
		require.Contains(t, text, "account.ID=eaid-1 account.CompanyID=7 account.Balance=25.50 account.CardNumber=[REDACTED]")
		require.Contains(t, text, "account.Personal.FirstName=[REDACTED] account.Personal.LastName=[REDACTED]")
		require.Contains(t, text, "account.Compliant=false")
	}
	page := Page[Account]{Items: []Account{account}, Number: 2, TotalPages: 3, TotalItems: 21}
	for _, value := range []any{page, &page} {
		require.Equal(t, `{"account":{"number":2,"items":1,"total_pages":3,"total_items":21}}`, logged(t, value, false))
	}
	require.Equal(t, `{"account":{"Account":{"ID":"a","CardNumber":"[REDACTED]"},"Created":true}}`,
		logged(t, &Issued{Account: &Account{ID: "a", CardNumber: "x"}, Created: true}, false))
	require.Equal(t, `{"account":{"RequestID":"r","Destination":{"BSB":"1","AccountName":"[REDACTED]"}}}`,
		logged(t, DirectEntryOutParams{RequestID: "r", Destination: BankAccount{BSB: "1", AccountName: "n"}}, false))
	require.Equal(t, `{"account":{"Account":{"Registration":{"Title":"[REDACTED]"}},"ProgramClientID":"p"}}`,
		logged(t, IssueParams{Account: CreateAccountParams{Registration: &Cardholder{Title: "x"}}, ProgramClientID: "p"}, false))
	require.Equal(t, `{"account":{"Device":{"Name":"[REDACTED]"},"TokenSuffix":"1234"}}`,
		logged(t, WalletToken{Device: WalletDevice{Name: "x"}, TokenSuffix: "1234"}, false))
	require.Equal(t, `{"account":{"URI":"https://[REDACTED]@h.example/","Scope":[7]}}`,
		logged(t, UpdateHookParams{URI: "https://ann:s3cret@h.example/", Scope: []CompanyID{7}}, false))
	require.Equal(t, `{}`, logged(t, Account{}, false), "an empty group is left out")
}

// logged returns what slog writes of value, without time, level and message.
func logged(t *testing.T, value any, asText bool) string {
	t.Helper()
	var out bytes.Buffer
	options := &slog.HandlerOptions{ReplaceAttr: func(groups []string, a slog.Attr) slog.Attr {
		if len(groups) == 0 && (a.Key == slog.TimeKey || a.Key == slog.LevelKey || a.Key == slog.MessageKey) {
			return slog.Attr{}
		}
		return a
	}}
	if asText {
		slog.New(slog.NewTextHandler(&out, options)).Info("m", "account", value)
	} else {
		slog.New(slog.NewJSONHandler(&out, options)).Info("m", "account", value)
	}
	return strings.TrimSpace(out.String())
}

// An error answer is known by status and code. A code that is not listed prints when it looks like one, for it is what
// a support case needs; anything else may be an echo of what was sent. The caller finds all of it in the fields.
func TestRedactedAPIError(t *testing.T) {
	t.Parallel()
	for code, want := range map[ErrorCode]string{
		"": "prepaid: status 400", CodeInvalidURI: "prepaid: status 400 (invalid_uri)", "card_blocked": "prepaid: status 400 (card_blocked)",
		"Ann Lee": "prepaid: status 400 (unlisted code)", "4821": "prepaid: status 400 (unlisted code)", "a@b": "prepaid: status 400 (unlisted code)",
		"a\nb": "prepaid: status 400 (unlisted code)", ErrorCode(strings.Repeat("a", 64)): "prepaid: status 400 (" + strings.Repeat("a", 64) + ")",
		ErrorCode(strings.Repeat("a", 65)): "prepaid: status 400 (unlisted code)",
	} {
		failure := &APIError{StatusCode: 400, Code: code, Description: "description", Body: []byte("body")}
		require.Equal(t, want, failure.Error())
		require.Equal(t, want+" "+want+" "+want, fmt.Sprintf("%+v %#v %s", failure, *failure, failure))
		require.Equal(t, `{"account":"`+want+`"}`, logged(t, failure, false))
		require.Equal(t, `{"account":{"E":"`+want+`"}}`, logged(t, struct{ E error }{failure}, false))
	}
	for mediaType, want := range map[string]string{
		"": "", "text/html": "text/html", "application/vnd.vendor+json": "application/vnd.vendor+json", "ann lee": "?", "ann": "?", "a/b/c": "?",
		"a/b@c": "?", "text/" + strings.Repeat("x", 100): "?",
	} {
		require.Equal(t, want, printableMediaType(mediaType), mediaType)
	}
}

// Every listed code prints.
func TestRedactedCodesAreListed(t *testing.T) {
	t.Parallel()
	for _, code := range errorCodes() {
		require.Equal(t, string(code), printableCode(code))
		require.Regexp(t, `^[a-z_]{1,64}$`, string(code))
	}
}
