package prepaid

import (
	"context"
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// What the reference does not limit is not refused, and arrives as it is: texts of any length with line ends, quotes
// and NUL in them.
func TestValidationLeavesFreeTextsAlone(t *testing.T) {
	t.Parallel()
	unlimited(t, validCreateFull, callCreate,
		".InitiatingUserID", ".PortalIdentifier.ClientID", ".PortalIdentifier.ProgramID",
		".PortalIdentifier.CardholderID", ".CorrespondingAccountID")
	unlimited(t, func() CreateAccountParams {
		p := validCreateFull()
		p.RequestType, p.AccountIDToReplace = RequestTypeReplace, "old"
		return p
	}, callCreate, ".AccountIDToReplace")
	unlimited(t, func() UpdateAccountParams { return UpdateAccountParams{Registration: validCardholder()} }, callUpdate,
		".InitiatingUserID")
	unlimited(t, func() SetPlasticEnabledParams { return SetPlasticEnabledParams{} },
		func(ctx context.Context, c *Client, p SetPlasticEnabledParams) error {
			return c.Accounts.SetPlasticEnabled(ctx, "eaid", p)
		}, ".InitiatingUserID")
	unlimited(t, validTransfer, callTransfer, ".DestinationAccountID", ".InitiatorUsername")
	unlimited(t, validDirectEntry, callDirectEntry, ".Destination.AccountName", ".BSB", ".InitiatingUserID")
	unlimited(t, func() ProvisionWalletParams { return ProvisionWalletParams{Certificates: []string{"a"}} }, callProvision,
		".TokenUniqueReference", ".InitiatingUserID", ".Nonce", ".NonceSignature", ".Certificates[]")
	unlimited(t, validRedeem, callRedeem, ".AccountID", ".MerchantNameLocation", ".CardAcceptorID", ".CorrelationID", ".TerminalID", ".AcquirerID")
	unlimited(t, validReverse, callReverse, ".AccountID", ".CorrelationID")
	unlimited(t, validRefund, callRefund, ".AccountID", ".MerchantNameLocation", ".CardAcceptorID", ".CorrelationID", ".TerminalID", ".AcquirerID")
	unlimited(t, func() ChangeTerminalsParams {
		return ChangeTerminalsParams{Add: []TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}}}
	}, func(ctx context.Context, c *Client, p ChangeTerminalsParams) error {
		return c.Policy.ChangeTerminals(ctx, 7, p)
	},
		".Reason", ".Add[].CardAcceptorID", ".Add[].TerminalID", ".Add[].CardAcceptorNameLocation", ".Add[].Description")
	for _, call := range simulateCalls() {
		unlimited(t, validSimulate, call, ".AccountID", ".AcquirerID", ".MerchantID", ".TerminalID")
	}
	unlimited(t, validInitiate, callInitiate, ".AccountID", ".DeviceID", ".IPAddress", ".CommunicationMethod")
	unlimited(t, validHook, callCreateHook, ".FilterSpec")
}

// unlimited sends P with each of the named texts set to something odd.
func unlimited[P any](t *testing.T, valid func() P, call func(context.Context, *Client, P) error, names ...string) {
	t.Helper()
	text := odd(3000) + " \r\n\t\x00\"\\</script>\u2028"
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
		sent := sends(t, name, func(ctx context.Context, c *Client) error { return call(ctx, c, p) })
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

// Dates, flags and numbers without a limit: also those that make little sense.
func TestValidationLeavesOddValuesAlone(t *testing.T) {
	t.Parallel()
	old := time.Date(1, time.January, 2, 0, 0, 0, 0, time.UTC)
	for _, change := range []func(*CreateAccountParams){
		func(p *CreateAccountParams) { p.PlasticExpiry, p.GiftCardExpiry, p.AccountExpiry = old, old, old },
		func(p *CreateAccountParams) { p.Registration.DateOfBirth = Date{9999, time.December, 31} },
		func(p *CreateAccountParams) { p.CompanyID = -1 },
		func(p *CreateAccountParams) { p.InitialLoadAmount = MustAmount("9999999999999999999") },
		func(p *CreateAccountParams) { p.InitialLoadAmount = MustAmount("0.0000000000000000001") },
		func(p *CreateAccountParams) { p.PlasticEnabled = new(false) },
		func(p *CreateAccountParams) { p.Registration.AlternateAddress = &AlternateAddress{} },
		func(p *CreateAccountParams) { p.Registration.MobileNumber = "none" },
		func(p *CreateAccountParams) { p.CorrespondingAccountID = "eaid" }, // without a replacement
		func(p *CreateAccountParams) { p.AccountIDToReplace = "eaid" },
		func(p *CreateAccountParams) { p.AccountIDToReplace, p.RequestType = "eaid", RequestTypeNew },
	} {
		params := validCreate()
		change(&params)
		sends(t, "creation", func(ctx context.Context, c *Client) error { return callCreate(ctx, c, params) })
	}
	far := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	sends(t, "window", func(ctx context.Context, c *Client) error {
		_, err := c.Accounts.TransactionsPage(ctx, "eaid", ListTransactionsParams{From: far, Before: old, Paging: Paging{Page: 1 << 30, Size: 1 << 30}})
		return err
	})
	sends(t, "company search", func(ctx context.Context, c *Client) error {
		_, err := c.Accounts.SearchCompanyPage(ctx, -1, SearchCompanyParams{
			FirstName: odd(500), LastName: "\x00", Mobile: "&a=b", ProgramID: "%", ProgramClientID: "\r\n", Include: []Include{IncludePersonal, IncludePersonal},
		})
		return err
	})
}
