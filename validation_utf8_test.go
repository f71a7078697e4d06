package prepaid

import (
	"context"
	"errors"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Bad UTF-8 in any text of any request is refused, with the field's name: JSON cannot hold it, and U+FFFD in its
// place would be another text.
func TestValidationRefusesBadUTF8Everywhere(t *testing.T) {
	t.Parallel()
	sweep(t, validCreateFull, callCreate)
	sweep(t, func() UpdateAccountParams {
		return UpdateAccountParams{
			Registration: validCardholder(), ClientAccountKey: new("k"), DisplayName: new("d"),
			PortalIdentifier: &PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"},
		}
	}, callUpdate)
	sweep(t, func() IssueParams {
		return IssueParams{Account: validCreateFull(), ProgramClientID: "c"}
	}, func(ctx context.Context, c *Client, p IssueParams) error {
		_, err := c.Accounts.Issue(ctx, p)
		return err
	})
	sweep(t, func() SearchAccountsParams {
		return SearchAccountsParams{ProgramClientID: "c", ClientAccountKey: "k", Include: []Include{IncludeBPay}}
	}, func(ctx context.Context, c *Client, p SearchAccountsParams) error {
		_, err := c.Accounts.SearchPage(ctx, p)
		return err
	})
	sweep(t, func() SearchCompanyParams { return SearchCompanyParams{} }, func(ctx context.Context, c *Client, p SearchCompanyParams) error {
		_, err := c.Accounts.SearchCompanyPage(ctx, 7, p)
		return err
	})
	sweep(t, func() SetPlasticEnabledParams { return SetPlasticEnabledParams{} }, func(ctx context.Context, c *Client, p SetPlasticEnabledParams) error {
		return c.Accounts.SetPlasticEnabled(ctx, "eaid", p)
	})
	sweep(t, validTransfer, callTransfer)
	sweep(t, validDirectEntry, callDirectEntry)
	sweep(t, validExchangeKey, callExchangeKey)
	sweep(t, func() ProvisionWalletParams { return ProvisionWalletParams{Certificates: []string{"a", "b"}} }, callProvision)
	sweep(t, validRedeem, callRedeem)
	sweep(t, validReverse, callReverse)
	sweep(t, validRefund, callRefund)
	sweep(t, func() ChangeCategoriesParams {
		return ChangeCategoriesParams{Add: []MCC{"0001"}, Remove: []MCC{"0001"}}
	},
		func(ctx context.Context, c *Client, p ChangeCategoriesParams) error {
			return c.Policy.ChangeCategories(ctx, 7, p)
		})
	sweep(t, func() ChangeMerchantsParams {
		return ChangeMerchantsParams{Add: []MerchantRule{{AcquirerID: 1, CardAcceptorID: "c", Description: "d"}}, Remove: []MerchantKey{{AcquirerID: 1, CardAcceptorID: "c"}}}
	}, func(ctx context.Context, c *Client, p ChangeMerchantsParams) error {
		return c.Policy.ChangeMerchants(ctx, 7, p)
	})
	sweep(t, func() ChangeTerminalsParams {
		return ChangeTerminalsParams{
			Add:    []TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
			Remove: []TerminalKey{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
		}
	}, func(ctx context.Context, c *Client, p ChangeTerminalsParams) error {
		return c.Policy.ChangeTerminals(ctx, 7, p)
	})
	for _, call := range simulateCalls() {
		sweep(t, validSimulate, call)
	}
	sweep(t, validInitiate, callInitiate)
	sweep(t, validSealed, func(ctx context.Context, c *Client, p SealedPINParams) error {
		_, err := c.PIN.Execute(ctx, p)
		return err
	})
	sweep(t, validHook, callCreateHook)
	sweep(t, func() UpdateHookParams { return UpdateHookParams{} }, func(ctx context.Context, c *Client, p UpdateHookParams) error {
		return c.Hooks.Update(ctx, "hook", p)
	})
	sweep(t, func() []string { return []string{"a", "b"} }, func(ctx context.Context, c *Client, p []string) error {
		return c.Hooks.Dismiss(ctx, "hook", p...)
	})
}

func validCreateFull() CreateAccountParams {
	p := validCreate()
	p.ClientAccountKey = "key"
	p.PortalIdentifier = &PortalIdentifier{ClientID: "a", ProgramID: "b", CardholderID: "c"}
	return p
}

// sweep spoils one text of P after the other, found by reflection, so that none is forgotten.
func sweep[P any](t *testing.T, valid func() P, call func(context.Context, *Client, P) error) {
	t.Helper()
	p := valid()
	texts := len(textsOf(reflect.ValueOf(&p).Elem(), ""))
	require.NotZero(t, texts, "%T has no texts", p)
	config := limitConfig()
	for i := range 2 * texts {
		config.SkipValueChecks = i >= texts
		i %= texts
		p := valid()
		text := textsOf(reflect.ValueOf(&p).Elem(), "")[i]
		text.set("qZ7x\xff")
		err := sendsNothingWith(t, config, func(ctx context.Context, c *Client) error { return call(ctx, c, p) })
		require.Equal(t, OutcomeRejected, OutcomeOf(err), text.name)
		invalid, ok := errors.AsType[*ValidationError](err)
		require.True(t, ok, "%T%s: want *ValidationError, got %v", p, text.name, err)
		for _, fault := range invalid.Faults {
			require.Equal(t, invalid.Faults[0].Field, fault.Field, "%T%s", p, text.name)
			require.True(t, strings.HasSuffix(fault.Field, text.tag), "%T%s: %s", p, text.name, fault.Field)
		}
		requireNoPart(t, "qZ7x", err.Error())
	}
}

// textField is a text that can be set.
type textField struct {
	name, tag string
	set       func(string)
}

// textsOf finds every text and secret inside v; nil pointers and empty lists hold none.
func textsOf(v reflect.Value, name string) []textField {
	if v.Type() == reflect.TypeFor[Secret]() {
		return []textField{{name: name, set: func(text string) { v.Set(reflect.ValueOf(NewSecret(text))) }}}
	}
	var found []textField
	switch v.Kind() {
	case reflect.String:
		found = append(found, textField{name: name, set: v.SetString})
	case reflect.Pointer:
		if !v.IsNil() {
			found = textsOf(v.Elem(), name)
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
