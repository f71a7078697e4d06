package prepaidtest

import (
	"cmp"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
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
	want := map[string][]string{
		"transact": {"transaction_reference", "authorization_id", "success", "message"},
		"advice":   {"authorization_id", "success", "message"}, "reverse": {"authorization_id", "success", "message"},
		"clear": {"success", "message"}, "reverse_clear": {"success", "message"},
	}[operation]
	require.ElementsMatch(s.t, want, slices.Collect(maps.Keys(got)), operation)
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

func TestSpec_4_6_Transact(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	ok, _, id := s.run("transact", map[string]any{"bank_name": "b", "location": "Sydney", "location_code": "l", "currency_code": "036"})
	require.True(t, ok)
	require.NotEmpty(t, id)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "Withdrawal", "mcc": "6011", "amount": "20.50"})
	require.True(t, ok)
	ok, _, _ = s.run("transact", map[string]any{"transaction_type": "PosCredit"})
	require.True(t, ok)
	require.Equal(t, []string{"1118 -10.00", "1141 -20.50", "1116 10.00"}, s.booked())
	item := s.Transactions(s.id)[1]
	require.Equal(t, []string{"M", "T", "1", "5812", "Sydney"}, []string{item.CardAcceptorID, item.TerminalID, item.AcquirerID, item.MerchantCategoryCode, item.Reference})

	ok, message, none := s.run("transact", map[string]any{"amount": 100})
	require.False(t, ok)
	require.Equal(t, "Insufficient funds", message)
	require.Empty(t, none)
	require.Len(t, s.booked(), 3)
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

func TestSpec_4_6_Advice(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	_, _, id := s.run("transact", nil)
	ok, _, same := s.run("advice", map[string]any{"authorization_id": id, "amount": 12})
	require.True(t, ok)
	require.Equal(t, id, same)
	ok, _, other := s.run("advice", map[string]any{"amount": 3})
	require.True(t, ok)
	require.NotEqual(t, id, other)
	ok, _, _ = s.run("advice", map[string]any{"authorization_id": "unknown", "amount": 4})
	require.True(t, ok)
	ok, _, _ = s.run("advice", map[string]any{"authorization_id": id, "amount": 5, "terminal_id": "other"})
	require.True(t, ok)
	require.Equal(t, []string{"1118 -10.00", "1120 10.00", "1118 -12.00", "1118 -3.00", "1118 -4.00", "1118 -5.00"}, s.booked())
	ok, message, _ := s.run("advice", map[string]any{"transaction_type": "Withdrawal", "mcc": "6011"})
	require.False(t, ok)
	require.Contains(t, message, "purchases")
}

func TestSpec_4_6_Reverse(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	_, _, id := s.run("transact", nil)
	for _, changes := range []map[string]any{
		{}, {"authorization_id": "unknown"}, {"authorization_id": id, "amount": 11}, {"authorization_id": id, "merchant_id": "other"},
	} {
		ok, _, _ := s.run("reverse", changes)
		require.False(t, ok, changes)
	}
	ok, _, _ := s.run("reverse", map[string]any{"authorization_id": id, "amount": 4})
	require.True(t, ok)
	ok, _, _ = s.run("reverse", map[string]any{"authorization_id": id, "amount": 6})
	require.True(t, ok)
	ok, _, _ = s.run("reverse", map[string]any{"authorization_id": id, "amount": 1})
	require.False(t, ok, "nothing is left to reverse")
	require.Equal(t, []string{"1118 -10.00", "1120 4.00", "1120 6.00"}, s.booked())
	require.Equal(t, "100.00", s.Balance(s.id))
}

func TestSpec_4_6_ClearAndReverseClear(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	_, _, id := s.run("transact", nil)
	ok, _, _ := s.run("clear", map[string]any{"authorization_id": id, "amount": 11})
	require.True(t, ok)
	s.Advance(time.Minute - time.Nanosecond)
	require.Len(t, s.booked(), 1)
	s.Advance(time.Nanosecond)
	require.Equal(t, []string{"1118 -10.00", "1117 10.00", "1115 -11.00"}, s.booked())
	require.Equal(t, "89.00", s.Balance(s.id))

	ok, _, _ = s.run("clear", map[string]any{"authorization_id": "forced", "amount": 2})
	require.True(t, ok)
	s.Advance(time.Minute)
	require.Equal(t, "1115 -2.00", s.booked()[3])

	ok, _, _ = s.run("reverse_clear", map[string]any{"authorization_id": id, "amount": 11})
	require.True(t, ok)
	s.Advance(time.Minute)
	require.Equal(t, "1125 11.00", s.booked()[4])
	history := s.Transactions(s.id)
	require.Equal(t, history[3].ID, history[5].ParentID)
	require.Equal(t, s.Now(), history[5].OccurredAt)
	require.Equal(t, "98.00", s.Balance(s.id))
}

// A clearing that became due long ago is booked at its own time, before anything later.
func TestSpec_4_6_Rule3_ClearingsKeepTheirOrder(t *testing.T) {
	t.Parallel()
	s := simulate(t, Options{})
	began := s.Now()
	s.run("clear", map[string]any{"amount": 1})
	s.Advance(time.Second)
	s.run("clear", map[string]any{"amount": 2})
	s.Advance(time.Hour / 2)
	require.Equal(t, []string{"1115 -1.00", "1115 -2.00"}, s.booked())
	history := s.Transactions(s.id)
	require.Equal(t, began.Add(time.Minute), history[1].OccurredAt)
	require.Equal(t, began.Add(time.Minute+time.Second), history[2].OccurredAt)
}

func TestSpec_4_3_Rule1_ThePolicyDecidesByLoop(t *testing.T) {
	t.Parallel()
	for _, loop := range []Loop{OpenLoop, ClosedLoop} {
		s := simulate(t, Options{})
		s.AddCompany(Company{ID: DefaultCompany, ClientID: "acme", Loop: loop})
		listed, unlisted := loop == ClosedLoop, loop == OpenLoop
		approved := func(changes map[string]any) bool {
			ok, message, _ := s.run("transact", changes)
			if !ok {
				require.Equal(t, "Declined by policy", message)
			}
			return ok
		}
		require.Equal(t, unlisted, approved(nil))
		for _, test := range []struct {
			part, rule string
			away       map[string]any
		}{
			{"categories", `5812`, map[string]any{"mcc": "0742"}},
			{"merchants", `{"acquirer_id":1,"card_acceptor_id":"M"}`, map[string]any{"acquirer_id": "2"}},
			{"terminals", `{"acquirer_id":1,"card_acceptor_id":"M","terminal_id":"T"}`, map[string]any{"terminal_id": "T2"}},
		} {
			add := test.rule
			if test.part == "merchants" {
				add = `{"acquirer_id":1,"card_acceptor_id":"M","description":"d"}`
			}
			s.post("policy/42/"+test.part, `{"add":[`+add+`]}`).empty(200)
			require.Equal(t, listed, approved(nil), test.part)
			require.Equal(t, unlisted, approved(test.away), test.part)
			s.post("policy/42/"+test.part, `{"remove":[`+test.rule+`]}`).empty(200)
			require.Equal(t, unlisted, approved(nil), test.part)
		}
	}
	s := simulate(t, Options{})
	s.AddCompany(Company{ID: 9, ClientID: "nine", Loop: NoPolicy})
	ok, _, _ := s.run("transact", map[string]any{"account_id": s.AddAccount(SeedAccount{CompanyID: 9, Balance: "10"})})
	require.True(t, ok)
}

func TestSpec_8_SimulatorInTheTestEnvironmentOnly(t *testing.T) {
	t.Parallel()
	c := start(t, Options{Production: true})
	for _, operation := range []string{"transact", "advice", "reverse", "clear", "reverse_clear"} {
		c.post("simulation/"+operation, `{}`).refused(404, "not_found")
	}
}

func TestSimulation_ClearingComesByItselfInRealTime(t *testing.T) {
	t.Parallel()
	c := start(t, Options{SimulationDelay: 20 * time.Millisecond})
	s := &simulation{c, c.AddAccount(SeedAccount{Balance: "100"})}
	s.run("clear", nil)
	require.Eventually(t, func() bool { return s.Balance(s.id) == "90.00" }, 5*time.Second, 5*time.Millisecond)
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
