package contract

import (
	"context"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Bad UTF-8 in any text of any request is refused, with the field's name: JSON cannot hold it, and U+FFFD in its
// place would be another text.
func TestValidationRefusesBadUTF8Everywhere(t *testing.T) {
	t.Parallel()
	sweep(t, validCreateFull, method[prepaid.CreateAccountParams]("Accounts.Create"))
	sweep(t, func() prepaid.UpdateAccountParams {
		return prepaid.UpdateAccountParams{
			Cardholder:       validCardholder(),
			PortalIdentifier: &prepaid.PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"},
		}
	}, method[prepaid.UpdateAccountParams]("Accounts.Update", "eaid"))
	sweep(t, func() prepaid.IssueParams {
		return prepaid.IssueParams{Account: validCreateFull(), ProgramClientID: "c"}
	}, method[prepaid.IssueParams]("Accounts.Issue"))
	sweep(t, func() prepaid.SearchAccountsParams {
		return prepaid.SearchAccountsParams{ProgramClientID: "c", ClientAccountKey: "k", Include: []prepaid.Include{prepaid.IncludeBPay}}
	}, method[prepaid.SearchAccountsParams]("Accounts.SearchPage"))
	sweep(t, zero[prepaid.SearchCompanyParams], method[prepaid.SearchCompanyParams]("Accounts.SearchCompanyPage", 7))
	sweep(t, zero[prepaid.SetPlasticEnabledParams], method[prepaid.SetPlasticEnabledParams]("Accounts.SetPlasticEnabled", "eaid"))
	sweep(t, harness.ValidTransfer, method[prepaid.TransferParams]("Accounts.Transfer", "eaid"))
	sweep(t, harness.ValidDirectEntry, method[prepaid.DirectEntryOutParams]("Accounts.DirectEntryOut", "eaid"))
	sweep(t, harness.ValidExchangeKey, method[prepaid.ExchangeKeyParams]("Accounts.ExchangeKey", "eaid"))
	sweep(t, func() prepaid.ProvisionWalletParams {
		return prepaid.ProvisionWalletParams{Certificates: []string{"a", "b"}}
	}, method[prepaid.ProvisionWalletParams]("Accounts.ProvisionWallet", "eaid", "provider"))
	sweep(t, harness.ValidRedeem, method[prepaid.RedeemFundingParams]("Funding.Redeem"))
	sweep(t, harness.ValidReverse, method[prepaid.ReverseFundingParams]("Funding.Reverse"))
	sweep(t, harness.ValidRefund, method[prepaid.RefundFundingParams]("Funding.Refund"))
	sweep(t, func() prepaid.ChangeRulesParams[prepaid.MCC] {
		return prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"0001"}, Remove: []prepaid.MCC{"0001"}}
	},
		method[prepaid.ChangeRulesParams[prepaid.MCC]]("Policy.ChangeCategories", 7))
	sweep(t, func() prepaid.ChangeRulesParams[prepaid.MerchantRule] {
		return prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "c", Description: "d"}}, Remove: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "c"}}}
	}, method[prepaid.ChangeRulesParams[prepaid.MerchantRule]]("Policy.ChangeMerchants", 7))
	sweep(t, func() prepaid.ChangeRulesParams[prepaid.TerminalRule] {
		return prepaid.ChangeRulesParams[prepaid.TerminalRule]{
			Add:    []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
			Remove: []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
		}
	}, method[prepaid.ChangeRulesParams[prepaid.TerminalRule]]("Policy.ChangeTerminals", 7))
	for _, call := range simulateCalls() {
		sweep(t, validSimulate, call)
	}
	sweep(t, validInitiate, method[prepaid.InitiatePINParams]("PIN.Initiate"))
	sweep(t, validSealed, method[prepaid.SealedPINParams]("PIN.Execute"))
	sweep(t, harness.ValidHook, method[prepaid.CreateHookParams]("Hooks.Create"))
	sweep(t, zero[prepaid.UpdateHookParams], method[prepaid.UpdateHookParams]("Hooks.Update", "hook"))
	sweep(t, func() []prepaid.MessageID { return []prepaid.MessageID{"a", "b"} }, func(ctx context.Context, c *prepaid.Client, p []prepaid.MessageID) error {
		return c.Hooks.Dismiss(ctx, "hook", p...)
	})
}

func validCreateFull() prepaid.CreateAccountParams {
	p := validCreate()
	p.ClientAccountKey = "key"
	p.PortalIdentifier = &prepaid.PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"}
	return p
}

// sweep breaks each text of P in turn; reflection finds them, so none is forgotten.
func sweep[P any](t *testing.T, valid func() P, call func(context.Context, *prepaid.Client, P) error) {
	t.Helper()
	p := valid()
	texts := len(textsOf(reflect.ValueOf(&p).Elem(), ""))
	require.NotZero(t, texts, "%T has no texts", p)
	config := harness.ServiceConfig()
	for i := range 2 * texts {
		config.SkipValueChecks = i >= texts
		i %= texts
		p := valid()
		text := textsOf(reflect.ValueOf(&p).Elem(), "")[i]
		text.set("qZ7x\xff")
		err := sendsNothingWith(t, config, func(ctx context.Context, c *prepaid.Client) error { return call(ctx, c, p) })
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), text.name)
		invalid := harness.As[*prepaid.ValidationError](t, err)
		for _, fault := range invalid.Faults {
			require.Equal(t, invalid.Faults[0].Field, fault.Field, "%T%s", p, text.name)
			require.True(t, strings.HasSuffix(fault.Field, text.tag), "%T%s: %s", p, text.name, fault.Field)
		}
		harness.RequireNoPart(t, "qZ7x", err.Error())
	}
}

// textField is a text that can be set.
type textField struct {
	name, tag string
	set       func(string)
}

// textsOf finds every text and secret inside v; nil pointers to structs and empty lists hold none.
func textsOf(v reflect.Value, name string) []textField {
	if v.Type() == reflect.TypeFor[prepaid.Secret]() {
		return []textField{{name: name, set: func(text string) { v.Set(reflect.ValueOf(prepaid.NewSecret(text))) }}}
	}
	var found []textField
	switch v.Kind() {
	case reflect.String:
		found = append(found, textField{name: name, set: v.SetString})
	case reflect.Pointer:
		switch {
		case !v.IsNil():
			found = textsOf(v.Elem(), name)
		case v.Type().Elem().Kind() == reflect.String: // an optional text that valid leaves out
			found = append(found, textField{name: name, set: func(text string) {
				v.Set(reflect.New(v.Type().Elem()))
				v.Elem().SetString(text)
			}})
		}
	case reflect.Slice:
		for i := range v.Len() {
			found = append(found, textsOf(v.Index(i), name+"[]")...)
		}
	case reflect.Struct:
		for field, content := range v.Fields() {
			if !field.IsExported() {
				continue
			}
			tag, _, _ := strings.Cut(field.Tag.Get("json"), ",")
			for _, text := range textsOf(content, name+"."+field.Name) {
				if text.tag == "" && content.Kind() != reflect.Slice {
					text.tag = tag
				}
				found = append(found, text)
			}
		}
	}
	return found
}
