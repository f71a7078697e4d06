package contract

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Texts that the reference does not limit are not refused, and arrive as they are: texts of any length with line ends, quotes
// and NUL in them.
func TestValidationLeavesFreeTextsAlone(t *testing.T) {
	t.Parallel()
	unlimited(t, validCreateFull, method[prepaid.CreateAccountParams]("Accounts.Create"),
		".InitiatingUserID", ".PortalIdentifier.ClientID", ".PortalIdentifier.ProgramID",
		".PortalIdentifier.CardholderID", ".CorrespondingAccountID")
	unlimited(t, func() prepaid.CreateAccountParams {
		p := validCreateFull()
		p.RequestType, p.AccountIDToReplace = prepaid.RequestTypeReplace, "old"
		return p
	}, method[prepaid.CreateAccountParams]("Accounts.Create"), ".AccountIDToReplace")
	unlimited(t, func() prepaid.UpdateAccountParams {
		return prepaid.UpdateAccountParams{Cardholder: validCardholder()}
	}, method[prepaid.UpdateAccountParams]("Accounts.Update", "eaid"),
		".InitiatingUserID")
	unlimited(t, zero[prepaid.SetPlasticEnabledParams],
		method[prepaid.SetPlasticEnabledParams]("Accounts.SetPlasticEnabled", "eaid"), ".InitiatingUserID")
	unlimited(t, harness.ValidTransfer, method[prepaid.TransferParams]("Accounts.Transfer", "eaid"), ".DestinationAccountID", ".InitiatorUsername")
	unlimited(t, harness.ValidDirectEntry, method[prepaid.DirectEntryOutParams]("Accounts.DirectEntryOut", "eaid"), ".Destination.AccountName", ".BSB", ".InitiatingUserID")
	unlimited(t, func() prepaid.ProvisionWalletParams {
		return prepaid.ProvisionWalletParams{Certificates: []string{"a"}}
	}, method[prepaid.ProvisionWalletParams]("Accounts.ProvisionWallet", "eaid", "provider"),
		".TokenUniqueReference", ".InitiatingUserID", ".Nonce", ".NonceSignature", ".Certificates[]")
	unlimited(t, harness.ValidRedeem, method[prepaid.RedeemFundingParams]("Funding.Redeem"), ".AccountID", ".MerchantNameLocation", ".CardAcceptorID", ".CorrelationID", ".TerminalID", ".AcquirerID")
	unlimited(t, harness.ValidReverse, method[prepaid.ReverseFundingParams]("Funding.Reverse"), ".AccountID", ".CorrelationID")
	unlimited(t, harness.ValidRefund, method[prepaid.RefundFundingParams]("Funding.Refund"), ".AccountID", ".MerchantNameLocation", ".CardAcceptorID", ".CorrelationID", ".TerminalID", ".AcquirerID")
	unlimited(t, func() prepaid.ChangeRulesParams[prepaid.TerminalRule] {
		return prepaid.ChangeRulesParams[prepaid.TerminalRule]{Add: []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}}}
	}, method[prepaid.ChangeRulesParams[prepaid.TerminalRule]]("Policy.ChangeTerminals", 7),
		".Reason", ".Add[].CardAcceptorID", ".Add[].TerminalID", ".Add[].CardAcceptorNameLocation", ".Add[].Description")
	for _, call := range simulateCalls() {
		unlimited(t, validSimulate, call, ".AccountID", ".AcquirerID", ".MerchantID", ".TerminalID")
	}
	unlimited(t, validInitiate, method[prepaid.InitiatePINParams]("PIN.Initiate"), ".AccountID", ".DeviceID", ".IPAddress", ".CommunicationMethod")
	unlimited(t, harness.ValidHook, method[prepaid.CreateHookParams]("Hooks.Create"), ".FilterSpec")
}

// unlimited sends P with each of the named texts set to something odd.
func unlimited[P any](t *testing.T, valid func() P, call func(context.Context, *prepaid.Client, P) error, names ...string) {
	t.Helper()
	text := harness.WideText(3000) + " \r\n\t\x00\"\\</script>\u2028"
	asJSON := func(body string) any {
		var value any
		require.NoError(t, json.Unmarshal([]byte(body), &value))
		return value
	}
	for _, name := range names {
		p := valid()
		set := false
		for _, field := range textsOf(reflect.ValueOf(&p).Elem(), "") {
			if field.name == name {
				field.set(text)
				set = true
			}
		}
		require.True(t, set, "%T has no %s", p, name)
		sent := sends(t, name, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, p) })
		require.True(t, holds(asJSON(sent.body), text), "%T%s did not arrive", p, name)
	}
}

// holds reports whether text stands anywhere in a JSON value.
func holds(value any, text string) bool {
	switch value := value.(type) {
	case string:
		return value == text
	case []any:
		for _, element := range value {
			if holds(element, text) {
				return true
			}
		}
	case map[string]any:
		for _, member := range value {
			if holds(member, text) {
				return true
			}
		}
	}
	return false
}

// Dates, flags and numbers without a limit, also senseless values.
func TestValidationLeavesOddValuesAlone(t *testing.T) {
	t.Parallel()
	old := time.Date(1, time.January, 2, 0, 0, 0, 0, time.UTC)
	for _, change := range []func(*prepaid.CreateAccountParams){
		func(p *prepaid.CreateAccountParams) {
			p.PlasticExpiry, p.GiftCardExpiry, p.AccountExpiry = old, old, old
		},
		func(p *prepaid.CreateAccountParams) {
			p.Cardholder.DateOfBirth = prepaid.Date{Year: 9999, Month: time.December, Day: 31}
		},
		func(p *prepaid.CreateAccountParams) { p.CompanyID = -1 },
		func(p *prepaid.CreateAccountParams) { p.InitialLoadAmount = prepaid.MustAmount("9999999999999999999") },
		func(p *prepaid.CreateAccountParams) {
			p.InitialLoadAmount = prepaid.MustAmount("0.0000000000000000001")
		},
		func(p *prepaid.CreateAccountParams) { p.PlasticEnabled = new(false) },
		func(p *prepaid.CreateAccountParams) { p.Cardholder.AlternateAddress = &prepaid.AlternateAddress{} },
		func(p *prepaid.CreateAccountParams) { p.Cardholder.MobileNumber = "none" },
		func(p *prepaid.CreateAccountParams) { p.CorrespondingAccountID = "eaid" }, // without a replacement
		func(p *prepaid.CreateAccountParams) { p.AccountIDToReplace = "eaid" },
		func(p *prepaid.CreateAccountParams) {
			p.AccountIDToReplace, p.RequestType = "eaid", prepaid.RequestTypeNew
		},
	} {
		params := validCreate()
		change(&params)
		sends(t, "creation", harness.Calling("Accounts.Create", params))
	}
	far := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	sends(t, "window", harness.Calling("Accounts.TransactionsPage", "eaid", prepaid.ListTransactionsParams{From: old, Before: far, Paging: prepaid.Paging{Page: 1 << 30, Size: 1 << 30}}))
	sends(t, "company search", harness.Calling("Accounts.SearchCompanyPage", -1, prepaid.SearchCompanyParams{
		FirstName: harness.WideText(500), LastName: "\x00", Mobile: "&a=b", ProgramID: "%", ProgramClientID: "\r\n", Include: []prepaid.Include{prepaid.IncludeCardholder, prepaid.IncludeCardholder},
	}))
}
