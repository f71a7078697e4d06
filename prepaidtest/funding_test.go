package prepaidtest

import (
	"encoding/json"
	"testing"

	"github.com/stretchr/testify/require"
)

const redemptionText = `{"amount":10,"account_id":"x","funding_exception":"no_exception","merchant_name_location":"Shop","originating_transaction":5,
	"clearing_adjustment":false,"currency":"036","card_acceptor_id":"M","correlation_id":"c1","merchant_category":"5812","terminal_id":"T","acquirer_id":"A"}`

func funded(t *testing.T, c *caller, operation, text string) (string, json.Number) {
	t.Helper()
	got := c.post("funding/"+operation, text).ok().object()
	if got["outcome"] == "declined" {
		require.Len(t, got, 1, "transaction_id only when approved")
		return "declined", "0"
	}
	require.Len(t, got, 2)
	return got["outcome"].(string), got["transaction_id"].(json.Number)
}

func TestSpec_4_5_WhatIsBooked(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	require.Equal(t, "90.00", f.Balance(f.id))
	item := f.Transactions(f.id)[1]
	require.Equal(t, []string{"3010", "-10.00", "M", "T", "A", "5812", "Shop", f.parent.String()},
		[]string{item.Type, item.Amount, item.CardAcceptorID, item.TerminalID, item.AcquirerID, item.MerchantCategoryCode, item.Reference, string(item.ID)})
	outcome, _ := f.redeem(map[string]any{"amount": json.Number("90.01")})
	require.Equal(t, "declined", outcome)
	require.Equal(t, "approved", f.refund("4", nil))
	require.Equal(t, "approved", f.reverse(nil))
	refund, reversal := f.Transactions(f.id)[2], f.Transactions(f.id)[3]
	require.Equal(t, []string{"3012", "4.00", f.parent.String()}, []string{refund.Type, refund.Amount, string(refund.ParentID)})
	require.Equal(t, []string{"3011", "6.00", f.parent.String()}, []string{reversal.Type, reversal.Amount, string(reversal.ParentID)})
}

func TestSpec_4_5_InputIsChecked(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	for _, field := range []string{
		"amount", "account_id", "funding_exception", "merchant_name_location", "originating_transaction", "clearing_adjustment", "currency",
		"card_acceptor_id", "correlation_id", "merchant_category", "terminal_id", "acquirer_id",
	} {
		require.Contains(t, c.post("funding/redemptions", body(t, redemptionText, map[string]any{field: nil})).refused(400, "invalid_request"), field)
	}
	for field, value := range map[string]any{"amount": -1, "funding_exception": "x", "currency": "AUD", "merchant_category": "581", "clearing_adjustment": "false"} {
		require.Contains(t, c.post("funding/redemptions", body(t, redemptionText, map[string]any{field: value})).refused(400, "invalid_request"), field)
	}
	require.Contains(t, c.post("funding/refunds", redemptionText).refused(400, "invalid_request"), "funding_exception")
	const reversal = `{"account_id":"a","originating_transaction":5,"correlation_id":"c","parent_transaction_id":7,"clearing_adjustment":true}`
	for _, field := range []string{"account_id", "originating_transaction", "correlation_id", "parent_transaction_id", "clearing_adjustment"} {
		require.Contains(t, c.post("funding/reversals", body(t, reversal, map[string]any{field: nil})).refused(400, "invalid_request"), field)
	}
	require.Contains(t, c.post("funding/reversals", body(t, reversal, map[string]any{"parent_transaction_id": "7"})).refused(400, "invalid_request"), "parent_transaction_id")
}

// The reference sets no limit to amount: a clearing adjustment of zero is approved, and moves nothing.
func TestSpec_4_5_ZeroIsAnAmount(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	outcome, _ := f.redeem(map[string]any{"amount": 0, "clearing_adjustment": true})
	require.Equal(t, "approved", outcome)
}
