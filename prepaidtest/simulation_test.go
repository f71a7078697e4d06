package prepaidtest

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

type simulation struct {
	*caller
	id string
}

func simulate(t *testing.T, options Options) *simulation {
	t.Helper()
	options.FrozenClock, options.SimulationDelay = true, cmp.Or(options.SimulationDelay, time.Minute)
	c := start(t, options)
	return &simulation{c, c.AddAccount(SeedAccount{Balance: "100"})}
}

// run makes a call and returns whether it succeeded, its message and the authorization_id.
func (s *simulation) run(operation string, changes map[string]any) (bool, string, string) {
	s.t.Helper()
	all := map[string]any{"account_id": s.id}
	maps.Copy(all, changes)
	text := body(s.t, `{"transaction_type":"Purchase","amount":10,"acquirer_id":"1","merchant_id":"M","terminal_id":"T","mcc":"5812"}`, all)
	got := s.post("simulation/"+operation, text).ok().object()
	authorisation, _ := got["authorization_id"].(string)
	return got["success"].(bool), got["message"].(string), authorisation
}

// booked returns type and amount of the history after the opening balance.
func (s *simulation) booked() []string {
	var list []string
	for _, item := range s.Transactions(s.id)[1:] {
		list = append(list, item.Type+" "+item.Amount)
	}
	return list
}

func TestSpec_4_6_Rule1_PlasticAndAnUnknownAccount(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	for _, operation := range simulations() {
		ok, message, _ := s.run(operation, map[string]any{"account_id": s.AddAccount(SeedAccount{PlasticDisabled: true})})
		require.False(t, ok)
		require.Equal(t, "Plastic not enabled", message)
		ok, message, _ = s.run(operation, map[string]any{"account_id": "nobody"})
		require.False(t, ok)
		require.Equal(t, "Invalid account", message)
	}
}

func TestSpec_8_SimulatorInTheTestEnvironmentOnly(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Production: true})
	for _, operation := range []string{"transact", "advice", "reverse", "clear", "reverse_clear"} {
		c.post("simulation/"+operation, `{}`).refused(404, "not_found")
	}
}

// The reference sets no limit to amount: zero moves nothing, and below zero moves the other way.
func TestSpec_4_6_ZeroAndNegativeAmounts(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	for _, amount := range []any{0, -5, "-0.50"} {
		ok, _, id := s.run("transact", map[string]any{"amount": amount})
		require.True(t, ok)
		refused, _, _ := s.run("reverse", map[string]any{"amount": 7, "authorization_id": id})
		require.False(t, refused, "more than was authorised")
		ok, _, _ = s.run("reverse", map[string]any{"amount": amount, "authorization_id": id})
		require.True(t, ok)
	}
	require.Equal(t, []string{"1118 0.00", "1120 0.00", "1118 5.00", "1120 -5.00", "1118 0.50", "1120 -0.50"}, s.booked())
}

// If the balance has no room for an amount, nothing is booked, and the response has an error.
func TestSimulation_BeyondTheRangeOfMoney(t *testing.T) {
	t.Parallel()
	const huge = "9000000000000000000"
	s := simulate(t, Options{})
	ok, _, first := s.run("advice", map[string]any{"amount": huge})
	require.True(t, ok)
	ok, message, _ := s.run("advice", map[string]any{"amount": huge})
	require.False(t, ok)
	require.Equal(t, "The balance would be out of range", message)
	ok, _, _ = s.run("reverse", map[string]any{"amount": huge, "authorization_id": first})
	require.True(t, ok)
	require.Equal(t, "100.00", s.Balance(s.id))

	_, _, authorisation := s.run("transact", nil)
	s.run("clear", map[string]any{"amount": huge})
	s.run("clear", map[string]any{"amount": huge, "authorization_id": authorisation})
	s.Advance(2 * time.Minute)
	require.Equal(t, "-8999999999999999910", s.Balance(s.id), "the first cleared, the second not")
	ok, _, _ = s.run("reverse", map[string]any{"authorization_id": authorisation})
	require.True(t, ok, "the authorisation is still open")

	ok, _, credit := s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.True(t, ok)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.True(t, ok)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "PosCredit", "amount": huge})
	require.False(t, ok)
	require.NotEmpty(t, credit)
}

func TestSpec_4_6_ReverseClearWithoutAClearing(t *testing.T) {
	t.Parallel()
	for want, options := range map[string]Options{"110.00": {}, "100.00": {Kind: true}} {
		s := simulate(t, options)
		s.run("reverse_clear", map[string]any{"authorization_id": "zzz"})
		s.Advance(2 * time.Minute)
		require.Equal(t, want, s.Balance(s.id))
	}
}

// The merchant has been paid: an accepted clearing is booked in any later state of the account.
func TestSpec_4_6_AnAcceptedClearingIsBookedOnAClosedAccount(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.run("clear", nil)
	s.SetStatus(s.id, "closed")
	s.Advance(2 * time.Minute)
	require.Equal(t, "90.00", s.Balance(s.id))
	ok, _, _ := s.run("clear", nil)
	require.False(t, ok)
}

func TestClock_EndsAndNeverMovesBack(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	s := NewServer(recorder, Options{FrozenClock: true, StartAt: time.Date(2199, 1, 1, 0, 0, 0, 0, time.UTC)})
	s.Advance(366 * 24 * time.Hour)
	at := s.Now()
	require.Equal(t, 2200, at.Year())
	s.Advance(3660 * 24 * time.Hour)
	s.Advance(-time.Hour)
	require.Len(t, recorder.messages, 2)
	require.Equal(t, at, s.Now())
	_, err := Start(Options{StartAt: time.Date(2201, 1, 1, 0, 0, 0, 0, time.UTC)})
	require.ErrorContains(t, err, "StartAt")
}

func TestKitRefusesWhatCannotBe(t *testing.T) {
	t.Parallel()
	recorder := &failures{TB: t}
	s := NewServer(recorder, Options{})
	lost := s.AddAccount(SeedAccount{Status: "lost_or_stolen", Balance: "8000000000000000000"})
	s.ActivateThroughPortal(lost)
	require.Equal(t, "lost_or_stolen", s.Status(lost))
	s.Adjust(lost, "8000000000000000000")
	require.Equal(t, "8000000000000000000", s.Balance(lost))
	require.Len(t, recorder.messages, 2)
}

// line is the part of a history item that describes a movement.
type line struct{ kind, description, amount, running, parent, at string }

// history reads the lines over the wire; each parent is the place of its item.
func (s *simulation) history() []line {
	s.t.Helper()
	var lines []line
	places := map[string]string{"": ""}
	items := s.get("accounts/" + s.id + "/transactions").ok().list()
	slices.Reverse(items)
	for i, item := range items {
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
	_, _, id = s.run("transact", nil)
	s.Advance(time.Second)
	ok, _, same := s.run("reverse", map[string]any{"authorization_id": id})
	require.True(t, ok)
	require.Equal(t, id, same)
	require.Equal(t, []line{
		{"2950", "Load", "100.00", "100.00", "", "10:00:00Z"},
		{"1118", "Purchase authorisation", "-10.00", "90.00", "", "10:00:00Z"},
		{"1120", "Purchase authorisation reversal", "10.00", "100.00", "b", "10:01:00Z"},
		{"1118", "Purchase authorisation", "-12.50", "87.50", "b", "10:01:00Z"},
		{"1117", "Clearing credit back", "12.50", "100.00", "d", "10:03:00Z"},
		{"1115", "Clearing", "-11.00", "89.00", "d", "10:03:00Z"},
		{"1125", "Clearing reversal", "11.00", "100.00", "f", "10:04:00Z"},
		{"1118", "Purchase authorisation", "-10.00", "90.00", "", "10:04:00Z"},
		{"1120", "Purchase authorisation reversal", "10.00", "100.00", "h", "10:04:01Z"},
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

// An item without a merchant has four digits, as the reference requires.
func TestSpec_2_8_CategoryWithoutMerchant(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	s.run("transact", nil)
	s.post("simulation/transact", body(t, `{"transaction_type":"Purchase","amount":1}`, map[string]any{"account_id": s.id})).ok()
	for i, want := range []string{"0000", "5812", "0000"} {
		require.Equal(t, want, s.Transactions(s.id)[i].MerchantCategoryCode)
	}
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
	slices.Reverse(items)
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
