package prepaidtest

import (
	"encoding/json"
	"slices"
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

// The reference sets no limit to amount: a clearing adjustment of zero is approved, and moves nothing.
func TestSpec_4_5_ZeroIsAnAmount(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	outcome, _ := f.redeem(map[string]any{"amount": 0, "clearing_adjustment": true})
	require.Equal(t, "approved", outcome)
}

// funds is an account with a redemption of 10 on it.
type funds struct {
	*caller
	id     string
	parent json.Number
}

func newFunds(t *testing.T) *funds {
	t.Helper()
	c := start(t, Options{})
	f := &funds{caller: c, id: c.AddAccount(SeedAccount{Balance: "100"})}
	outcome, parent := f.redeem(nil)
	require.Equal(t, "approved", outcome)
	f.parent = parent
	return f
}

func (f *funds) redeem(changes map[string]any) (string, json.Number) {
	f.t.Helper()
	return funded(f.t, f.caller, "redemptions", body(f.t, body(f.t, redemptionText, map[string]any{"account_id": f.id}), changes))
}

func (f *funds) reverse(changes map[string]any) string {
	f.t.Helper()
	text := body(f.t, `{"originating_transaction":5,"correlation_id":"c1","clearing_adjustment":false}`,
		map[string]any{"account_id": f.id, "parent_transaction_id": f.parent})
	outcome, _ := funded(f.t, f.caller, "reversals", body(f.t, text, changes))
	return outcome
}

func (f *funds) refund(amount string, changes map[string]any) string {
	f.t.Helper()
	text := body(f.t, redemptionText, map[string]any{
		"account_id": f.id, "funding_exception": nil, "clearing_adjustment": nil, "parent_transaction_id": f.parent, "amount": json.Number(amount),
	})
	outcome, _ := funded(f.t, f.caller, "refunds", body(f.t, text, changes))
	return outcome
}

func TestSpec_4_5_RedemptionOnEachStatus(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	for _, status := range AccountStatuses() {
		id := f.AddAccount(SeedAccount{Balance: "10", Status: status})
		outcome, _ := f.redeem(map[string]any{"account_id": id})
		want, left := "declined", "10.00"
		if status == "active" {
			want, left = "approved", "0.00"
		}
		require.Equal(t, want, outcome, status)
		require.Equal(t, left, f.Balance(id), status)
	}
	outcome, _ := f.redeem(map[string]any{"account_id": "nobody"})
	require.Equal(t, "declined", outcome)
}

func TestSpec_4_5_EachFundingExceptionAndFlag(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	for _, exception := range []string{"no_exception", "restrictions_not_satisfiable", "funding_exhausted"} {
		for _, clearing := range []bool{false, true} {
			outcome, _ := f.redeem(map[string]any{"funding_exception": exception, "clearing_adjustment": clearing, "amount": 1})
			require.Equal(t, "approved", outcome)
		}
	}
	require.Equal(t, "84.00", f.Balance(f.id))
}

// Reversed and refunded in every order: never more is given back than was redeemed.
func TestSpec_4_5_ReversalsAndRefundsInEachOrder(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		steps []string
		want  []string
		left  string
	}{
		{[]string{"reverse", "reverse"}, []string{"approved", "declined"}, "100.00"},
		{[]string{"reverse", "1"}, []string{"approved", "declined"}, "100.00"},
		{[]string{"10", "0.01"}, []string{"approved", "declined"}, "100.00"},
		{[]string{"10", "reverse"}, []string{"approved", "declined"}, "100.00"},
		{[]string{"10.01", "10"}, []string{"declined", "approved"}, "100.00"},
		{[]string{"4", "6", "1"}, []string{"approved", "approved", "declined"}, "100.00"},
		{[]string{"4", "7", "6"}, []string{"approved", "declined", "approved"}, "100.00"},
		{[]string{"4", "reverse", "reverse"}, []string{"approved", "approved", "declined"}, "100.00"},
		{[]string{"4", "reverse", "1"}, []string{"approved", "approved", "declined"}, "100.00"},
		{[]string{"4"}, []string{"approved"}, "94.00"},
	} {
		f := newFunds(t)
		var got []string
		for _, step := range test.steps {
			if step == "reverse" {
				got = append(got, f.reverse(nil))
			} else {
				got = append(got, f.refund(step, nil))
			}
		}
		require.Equal(t, test.want, got, test.steps)
		require.Equal(t, test.left, f.Balance(f.id), test.steps)
	}
}

func TestSpec_4_5_WhatBelongsToARedemption(t *testing.T) {
	t.Parallel()
	f := newFunds(t)
	other := f.AddAccount(SeedAccount{Balance: "5"})
	_, second := f.redeem(map[string]any{"correlation_id": "c2", "originating_transaction": 6})
	for field, value := range map[string]any{
		"account_id": other, "originating_transaction": 6, "correlation_id": "c2", "parent_transaction_id": second,
	} {
		require.Equal(t, "declined", f.reverse(map[string]any{field: value}), field)
	}
	for field, value := range map[string]any{"account_id": other, "correlation_id": "c2", "parent_transaction_id": 1} {
		require.Equal(t, "declined", f.refund("1", map[string]any{field: value}), field)
	}
	require.Equal(t, []string{"80.00", "5.00"}, []string{f.Balance(f.id), f.Balance(other)})
	require.Equal(t, "approved", f.reverse(nil))
	// The parent of a refund is optional: a refund without one is independent.
	require.Equal(t, "approved", f.refund("2", map[string]any{"parent_transaction_id": nil, "account_id": other, "correlation_id": "own"}))
	require.Equal(t, "7.00", f.Balance(other))
}

func TestSpec_4_5_CreditsOnEachStatus(t *testing.T) {
	t.Parallel()
	for _, status := range AccountStatuses() {
		want := "approved"
		if slices.Contains([]string{"closed", "replaced", "expired", "lost_or_stolen", "deactivated"}, status) {
			want = "declined"
		}
		f := newFunds(t)
		f.SetStatus(f.id, status)
		require.Equal(t, want, f.refund("4", nil), status)
		require.Equal(t, want, f.reverse(nil), status)
	}
}
