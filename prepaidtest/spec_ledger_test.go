package prepaidtest

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// line is the part of a history item that describes a movement.
type line struct{ kind, description, amount, running, parent, at string }

// history reads the lines over the wire; each parent is the place of its item.
func (s *simulation) history() []line {
	s.t.Helper()
	var lines []line
	places := map[string]string{"": ""}
	for i, item := range s.get("accounts/" + s.id + "/transactions").ok().list() {
		places[item["id"].(string)] = string(rune('a' + i))
		require.Equal(s.t, "AUD", item["amount_currency"])
		lines = append(lines, line{
			item["type"].(string), item["type_description"].(string), item["amount"].(json.Number).String(),
			item["running_balance_amount"].(json.Number).String(), places[item["parent_id"].(string)], item["occurred_at"].(string)[11:],
		})
	}
	return lines
}

func TestSpec_4_6_LedgerOfAPurchaseAdvisedClearedAndReversed(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{StartAt: time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)})
	_, _, id := s.run("transact", nil)
	s.Advance(time.Minute)
	s.run("advice", map[string]any{"authorization_id": id, "amount": "12.50"})
	s.Advance(time.Minute)
	s.run("clear", map[string]any{"authorization_id": id, "amount": 11})
	s.Advance(time.Minute)
	s.run("reverse_clear", map[string]any{"authorization_id": id, "amount": 11})
	s.Advance(time.Minute)
	require.Equal(t, []line{
		{"2950", "Load", "100.00", "100.00", "", "10:00:00Z"},
		{"1118", "Purchase authorisation", "-10.00", "90.00", "", "10:00:00Z"},
		{"1120", "Purchase authorisation reversal", "10.00", "100.00", "b", "10:01:00Z"},
		{"1118", "Purchase authorisation", "-12.50", "87.50", "b", "10:01:00Z"},
		{"1117", "Clearing credit back", "12.50", "100.00", "d", "10:03:00Z"},
		{"1115", "Clearing", "-11.00", "89.00", "d", "10:03:00Z"},
		{"1125", "Clearing reversal", "11.00", "100.00", "f", "10:04:00Z"},
	}, s.history())
}

func TestSpec_4_6_LedgerOfAWithdrawalAndACredit(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{StartAt: time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)})
	atm := map[string]any{"transaction_type": "Withdrawal", "mcc": "6011", "amount": 20}
	_, _, atm["authorization_id"] = s.run("transact", map[string]any{"transaction_type": "Withdrawal", "mcc": "6011", "amount": 20})
	credit := map[string]any{"transaction_type": "PosCredit", "amount": 5}
	_, _, credit["authorization_id"] = s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": 5})
	s.run("clear", atm)
	s.Advance(time.Second)
	s.run("clear", credit)
	s.Advance(time.Minute)
	s.run("reverse_clear", credit)
	s.Advance(time.Minute)
	require.Equal(t, []line{
		{"2950", "Load", "100.00", "100.00", "", "10:00:00Z"},
		{"1141", "ATM cash authorisation", "-20.00", "80.00", "", "10:00:00Z"},
		{"1116", "Point of sale credit", "5.00", "85.00", "", "10:00:00Z"},
		{"1117", "Clearing credit back", "20.00", "105.00", "b", "10:01:00Z"},
		{"1115", "Clearing", "-20.00", "85.00", "b", "10:01:00Z"},
		{"1117", "Clearing credit back", "-5.00", "80.00", "c", "10:01:01Z"},
		{"1115", "Clearing", "5.00", "85.00", "c", "10:01:01Z"},
		{"1125", "Clearing reversal", "-5.00", "80.00", "g", "10:02:01Z"},
	}, s.history())
}

func TestSpec_4_6_LedgerOfAReversal(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{StartAt: time.Date(2030, 1, 1, 10, 0, 0, 0, time.UTC)})
	_, _, id := s.run("transact", nil)
	s.Advance(time.Second)
	s.run("reverse", map[string]any{"authorization_id": id})
	require.Equal(t, []line{
		{"2950", "Load", "100.00", "100.00", "", "10:00:00Z"},
		{"1118", "Purchase authorisation", "-10.00", "90.00", "", "10:00:00Z"},
		{"1120", "Purchase authorisation reversal", "10.00", "100.00", "b", "10:00:01Z"},
	}, s.history())
}

// An item without a merchant has the category of an option: four digits, as the reference requires, unless it is set otherwise.
func TestSpec_2_8_CategoryWithoutMerchantIsASetting(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]Options{"0000": {}, "6012": {CategoryWithoutMerchant: new("6012")}, "": {CategoryWithoutMerchant: new("")}} {
		s := simulate(t, options)
		s.run("transact", nil)
		s.post("simulation/transact", body(t, `{"transaction_type":"Purchase","amount":1}`, map[string]any{"account_id": s.id})).ok()
		items := s.get("accounts/" + s.id + "/transactions").ok().list()
		require.Equal(t, want, items[0]["merchant_category_code"])
		require.Equal(t, "5812", items[1]["merchant_category_code"])
		require.Equal(t, want, items[2]["merchant_category_code"], "a purchase without one")
		require.Equal(t, want, s.Transactions(s.id)[0].MerchantCategoryCode)
	}
	_, err := Start(Options{CategoryWithoutMerchant: new("12")})
	require.ErrorContains(t, err, "CategoryWithoutMerchant: must have four digits or be empty")
}

// Every item has all of 2.8, and the running balances are the sums.
func TestSpec_2_8_EachItemHasTheSeventeenFields(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.run("transact", nil)
	s.post("accounts/"+s.id+"/transfer", transferTo(t, s.AddAccount(SeedAccount{}), nil)).ok()
	s.post("accounts/"+s.id+"/directentryout", directEntry(t, nil)).ok()
	s.post("funding/redemptions", body(t, redemptionText, map[string]any{"account_id": s.id})).ok()
	fields := []string{
		"id", "parent_id", "account_id", "type", "type_description", "amount", "amount_currency", "fee_amount", "fee_amount_currency",
		"running_balance_amount", "running_balance_amount_currency", "occurred_at", "card_acceptor_id", "terminal_id", "acquirer_id",
		"merchant_category_code", "reference",
	}
	var sum wire.Money
	items := s.get("accounts/" + s.id + "/transactions").ok().list()
	require.Len(t, items, 5)
	for _, item := range items {
		require.Len(t, item, len(fields))
		for _, field := range fields {
			require.Contains(t, item, field)
		}
		require.Len(t, item["type"], 4)
		require.Regexp(t, `^\d{4}$`, item["merchant_category_code"])
		require.Equal(t, s.id, item["account_id"])
		amount, err := wire.ParseMoney(item["amount"].(json.Number).String())
		require.NoError(t, err)
		sum, _ = sum.Plus(amount)
		require.Equal(t, json.Number(sum.String()), item["running_balance_amount"])
	}
	require.Equal(t, sum.String(), s.Balance(s.id))
}
