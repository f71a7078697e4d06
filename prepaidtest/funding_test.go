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

func TestSpec_4_5_RedemptionReversalRefund(t *testing.T) {
	t.Parallel()
	c := start(t)
	id := c.AddAccount(SeedAccount{Balance: "25"})
	redeem := func(changes map[string]any) (string, json.Number) {
		return funded(t, c, "redemptions", body(t, body(t, redemptionText, map[string]any{"account_id": id}), changes))
	}
	outcome, first := redeem(nil)
	require.Equal(t, "approved", outcome)
	require.Equal(t, "15.00", c.Balance(id))
	item := c.Transactions(id)[1]
	require.Equal(t, []string{"3010", "-10.00", "M", "T", "A", "5812", "Shop", first.String()},
		[]string{item.Type, item.Amount, item.CardAcceptorID, item.TerminalID, item.AcquirerID, item.MerchantCategoryCode, item.Reference, item.ID})
	for _, changes := range []map[string]any{{"amount": 15.01}, {"account_id": "nobody"}} {
		outcome, _ = redeem(changes)
		require.Equal(t, "declined", outcome)
	}
	c.SetStatus(id, "inactive")
	outcome, _ = redeem(nil)
	require.Equal(t, "declined", outcome)
	c.SetStatus(id, "active")

	reversal := func(changes map[string]any) string {
		outcome, _ := funded(t, c, "reversals", body(t, body(t, `{"originating_transaction":5,"correlation_id":"c1","clearing_adjustment":true}`,
			map[string]any{"account_id": id, "parent_transaction_id": first}), changes))
		return outcome
	}
	refund := func(changes map[string]any) string {
		outcome, _ := funded(t, c, "refunds", body(t, body(t, redemptionText, map[string]any{
			"account_id": id, "funding_exception": nil, "clearing_adjustment": nil, "amount": 4, "parent_transaction_id": first,
		}), changes))
		return outcome
	}
	for name, changes := range map[string]map[string]any{
		"another correlation": {"correlation_id": "c2"}, "another parent": {"parent_transaction_id": 1}, "another account": {"account_id": c.AddAccount(SeedAccount{})},
		"another original": {"originating_transaction": 6},
	} {
		require.Equal(t, "declined", reversal(changes), name)
	}
	require.Equal(t, "declined", refund(map[string]any{"correlation_id": "c2"}))
	require.Equal(t, "declined", refund(map[string]any{"amount": 10.01}))
	require.Equal(t, "declined", refund(map[string]any{"parent_transaction_id": 1}))
	require.Equal(t, "approved", refund(nil))
	require.Equal(t, "approved", refund(nil))
	require.Equal(t, "declined", refund(nil), "4 + 4 + 4 is more than 10")
	require.Equal(t, "23.00", c.Balance(id))
	require.Equal(t, "approved", reversal(nil))
	require.Equal(t, "25.00", c.Balance(id), "the reversal gives back what was not refunded")
	require.Equal(t, "declined", reversal(nil), "once")
	require.Equal(t, "declined", refund(map[string]any{"amount": 1}), "reversed")
	require.Equal(t, "approved", refund(map[string]any{"parent_transaction_id": nil, "correlation_id": "free"}))
	require.Equal(t, "29.00", c.Balance(id))
	history := c.Transactions(id)
	require.Equal(t, "3012", history[len(history)-1].Type)
	require.Equal(t, "3011", history[len(history)-2].Type)
	require.Equal(t, first.String(), history[len(history)-2].ParentID)
}

func TestSpec_4_5_InputIsChecked(t *testing.T) {
	t.Parallel()
	c := start(t)
	for _, field := range []string{
		"amount", "account_id", "funding_exception", "merchant_name_location", "originating_transaction", "clearing_adjustment", "currency",
		"card_acceptor_id", "correlation_id", "merchant_category", "terminal_id", "acquirer_id",
	} {
		require.Contains(t, c.post("funding/redemptions", body(t, redemptionText, map[string]any{field: nil})).refused(400, "invalid_request"), field)
	}
	for field, value := range map[string]any{"amount": 0, "funding_exception": "x", "currency": "AUD", "merchant_category": "581", "clearing_adjustment": "false"} {
		require.Contains(t, c.post("funding/redemptions", body(t, redemptionText, map[string]any{field: value})).refused(400, "invalid_request"), field)
	}
	require.Contains(t, c.post("funding/refunds", redemptionText).refused(400, "invalid_request"), "funding_exception")
	const reversal = `{"account_id":"a","originating_transaction":5,"correlation_id":"c","parent_transaction_id":7,"clearing_adjustment":true}`
	for _, field := range []string{"account_id", "originating_transaction", "correlation_id", "parent_transaction_id", "clearing_adjustment"} {
		require.Contains(t, c.post("funding/reversals", body(t, reversal, map[string]any{field: nil})).refused(400, "invalid_request"), field)
	}
	require.Contains(t, c.post("funding/reversals", body(t, reversal, map[string]any{"parent_transaction_id": "7"})).refused(400, "invalid_request"), "parent_transaction_id")
}
