package prepaidtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func simulations() []string {
	return []string{"transact", "advice", "reverse", "clear", "reverse_clear"}
}

func TestSpec_4_6_Rule1_EachStatusButActiveIsRefused(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	for _, status := range AccountStatuses() {
		for _, operation := range simulations() {
			id := s.AddAccount(SeedAccount{Status: status, Balance: "100"})
			ok, message, _ := s.run(operation, map[string]any{"account_id": id})
			switch {
			case status == "active" && operation == "reverse":
				require.Equal(t, "There is no matching purchase authorisation", message)
			case status == "active":
				require.True(t, ok, operation)
			case status == "closed":
				require.False(t, ok)
				require.Equal(t, "Account closed", message)
			default:
				require.False(t, ok)
				require.Equal(t, "Account not active", message)
			}
			s.Advance(time.Minute)
			if status != "active" {
				require.Equal(t, "100.00", s.Balance(id), "%s %s", operation, status)
			}
		}
	}
}

func TestSpec_4_6_Rule2_TransactionTypeMustMatchTheOriginal(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	kinds := []string{"Purchase", "Withdrawal", "PosCredit"}
	for _, first := range kinds {
		ok, _, id := s.run("transact", map[string]any{"transaction_type": first, "mcc": "6011", "amount": 1})
		require.True(t, ok)
		booked := len(s.booked())
		for _, second := range kinds {
			for _, operation := range simulations()[1:] {
				if first == second {
					continue
				}
				ok, _, _ := s.run(operation, map[string]any{"transaction_type": second, "mcc": "6011", "amount": 1, "authorization_id": id})
				require.False(t, ok, "%s of a %s as %s", operation, first, second)
			}
		}
		s.Advance(time.Minute)
		require.Len(t, s.booked(), booked, first)
	}
}

func TestSpec_4_6_WithdrawalNeedsAnATMCategory(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	for category, want := range map[string]bool{"6011": true, "6010": true, "6012": false, "5812": false, "0000": false} {
		ok, _, _ := s.run("transact", map[string]any{"transaction_type": "Withdrawal", "mcc": category, "amount": 1})
		require.Equal(t, want, ok, category)
	}
	ok, _, _ := s.run("transact", map[string]any{"mcc": "6011", "amount": 1})
	require.True(t, ok, "a purchase may have one")
}

// A later request finds the authorisation when account, type, acquirer, merchant, terminal, category and id are
// those of the transact request.
func TestSpec_4_6_WhatMatches(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	other := s.AddAccount(SeedAccount{Balance: "100"})
	s.Adjust(s.id, "1000")
	for field, value := range map[string]any{
		"acquirer_id": "2", "merchant_id": "N", "terminal_id": "U", "mcc": "5814", "authorization_id": "other", "account_id": other,
	} {
		_, _, id := s.run("transact", nil)
		changes := map[string]any{"authorization_id": id, field: value}
		target := s.id
		if field == "account_id" {
			target = other
		}
		ok, _, _ := s.run("reverse", changes)
		require.False(t, ok, field)
		count := func() (credits int, last string) {
			history := s.Transactions(target)
			for _, item := range history {
				if item.Type == "1120" || item.Type == "1117" {
					credits++
				}
			}
			return credits, history[len(history)-1].Type
		}
		before, _ := count()
		ok, _, _ = s.run("advice", changes)
		require.True(t, ok, field)
		after, last := count()
		require.Equal(t, before, after, "only the advice: %s", field)
		require.Equal(t, "1118", last)
		ok, _, _ = s.run("clear", changes)
		require.True(t, ok, field)
		s.Advance(time.Minute)
		after, last = count()
		require.Equal(t, before, after, "only a forced post: %s", field)
		require.Equal(t, "1115", last)
		// All of them together match.
		ok, _, _ = s.run("reverse", map[string]any{"authorization_id": id})
		require.True(t, ok, field)
	}
}

func TestSpec_4_6_WhatMatchesIsASetting(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{Kind: true})
	_, _, id := s.run("transact", nil)
	elsewhere := map[string]any{"acquirer_id": "2", "merchant_id": "N", "terminal_id": "U", "mcc": "5814", "amount": 1}
	ok, _, _ := s.run("reverse", elsewhere)
	require.False(t, ok, "without the id")
	elsewhere["authorization_id"] = id
	ok, _, _ = s.run("reverse", elsewhere)
	require.True(t, ok)
	require.Equal(t, []string{"1118 -10.00", "1120 1.00"}, s.booked())
}

// A clearing depends on the state when it takes effect, not when it is requested.
func TestSpec_4_6_Rule3_ClearingFindsWhatIsThereByThen(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	_, _, id := s.run("transact", nil)
	s.run("clear", map[string]any{"authorization_id": id})
	s.Advance(30 * time.Second)
	s.run("reverse", map[string]any{"authorization_id": id})
	s.Advance(30 * time.Second)
	require.Equal(t, []string{"1118 -10.00", "1120 10.00", "1115 -10.00"}, s.booked())
	s.run("clear", map[string]any{"authorization_id": id}) // of a reversed one
	s.Advance(time.Minute)
	require.Equal(t, "1115 -10.00", s.booked()[3])
}

func TestSpec_4_6_AdviceAndClearingAreNotAskedOfBalanceAndPolicy(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.post("policy/42/categories", `{"add":[5812]}`).empty(200)
	ok, _, _ := s.run("advice", map[string]any{"amount": 150})
	require.True(t, ok)
	ok, _, _ = s.run("clear", map[string]any{"amount": 150})
	require.True(t, ok)
	s.Advance(time.Minute)
	require.Equal(t, "-200.00", s.Balance(s.id), "the merchant has been paid")
}

func TestSpec_2_15_AmountIsANumberOrANumericString(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	for _, operation := range []string{"transact", "advice", "clear", "reverse_clear"} {
		for amount, status := range map[any]int{
			json.Number("1.50"): 200, "1.50": 200, "1": 200, json.Number("1e0"): 200, 0: 200, "0": 200, -1: 200, "-1": 200, "": 400, " 1": 400, "one": 400, true: 400,
		} {
			got := s.post("simulation/"+operation, body(t, `{"transaction_type":"Purchase","acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5812"}`,
				map[string]any{"account_id": s.id, "amount": amount}))
			require.Equal(t, status, got.status, "%s %v", operation, amount)
		}
	}
}
