package prepaidtest

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func transferTo(t *testing.T, destination string, changes map[string]any) string {
	t.Helper()
	return body(t, body(t, `{"amount":25.50,"source_reference":"s","destination_reference":"d","transaction_type":1}`,
		map[string]any{"destination_account_id": destination}), changes)
}

func TestSpec_4_4_Transfer(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	got := c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"initiator_username": "u", "request_id": "r1"})).ok().object()
	require.Len(t, got, 2)
	require.True(t, wire.IsUUID(got["correlation_id"].(string)))
	require.Equal(t, "74.50", c.Balance(from))
	require.Equal(t, "25.50", c.Balance(to))
	out, in := c.Transactions(from)[1], c.Transactions(to)[0]
	require.Equal(t, got["transaction_id"].(json.Number).String(), string(out.ID))
	require.Equal(t, []string{"2951", "-25.50", "74.50", "s"}, []string{out.Type, out.Amount, out.RunningBalance, out.Reference})
	require.Equal(t, []string{"2951", "25.50", "25.50", "d", string(out.ID)}, []string{in.Type, in.Amount, in.RunningBalance, in.Reference, string(in.ParentID)})

	c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"transaction_type": 2950})).ok()
	require.Equal(t, "2950", c.Transactions(to)[1].Type)
	require.Equal(t, "Load", c.Transactions(to)[1].Description)
}

func TestSpec_8_WithoutARequestIDNothingIsCached(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	for _, id := range []any{nil, ""} {
		send := func() string {
			return string(c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"amount": 1, "request_id": id})).ok().body)
		}
		require.NotEqual(t, send(), send())
	}
	require.Equal(t, "96.00", c.Balance(from))
	require.Zero(t, c.Movements(""))
}

func TestSpec_8_TheCacheIsPerOperation(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"request_id": "r"})).ok()
	c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{"request_id": "r"})).ok()
	require.Equal(t, 2, c.Movements("r"))
}

func TestSpec_4_4_Transfer_EachFailureHasNoTransactionID(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "10"}), c.AddAccount(SeedAccount{})
	inactive, closed := c.AddAccount(SeedAccount{Balance: "50", Status: "pre_active"}), c.AddAccount(SeedAccount{Status: "closed"})
	for _, test := range []struct{ name, from, to string }{
		{"insufficient funds", from, to}, {"source not active", inactive, to}, {"unknown destination", from, "nobody"}, {"closed destination", from, closed}, {"itself", from, from},
	} {
		got := c.post("accounts/"+test.from+"/transfer", transferTo(t, test.to, map[string]any{"request_id": "f"})).ok().object()
		require.Equal(t, "", got["transaction_id"], test.name)
		require.NotEmpty(t, got["correlation_id"], test.name)
	}
	require.Zero(t, c.Movements("f"))
}

func TestSpec_4_4_Transfer_EmptyTransactionIDIsASetting(t *testing.T) {
	t.Parallel()
	for form, want := range map[EmptyTransactionID]string{
		EmptyString: `"transaction_id":"",`, EmptyNull: `"transaction_id":null,`, EmptyZero: `"transaction_id":0,`, EmptyAbsent: `{"correlation_id"`,
	} {
		c := start(t, Options{FailedTransfer: form})
		from := c.AddAccount(SeedAccount{})
		require.Contains(t, string(c.post("accounts/"+from+"/transfer", transferTo(t, "nobody", nil)).ok().body), want)
	}
}

func directEntry(t *testing.T, changes map[string]any) string {
	t.Helper()
	return body(t, `{"amount":10,"source_reference":"s","destination_reference":"d","bsb":"062000",
		"destination_account_info":{"bsb":"062000","account_number":"12345678","account_name":"A Lovelace"}}`, changes)
}

func TestSpec_4_4_DirectEntryOut(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from := c.AddAccount(SeedAccount{Balance: "25"})
	first := c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{"request_id": "d", "initiating_user_id": "u"})).ok()
	require.Len(t, first.object(), 2)
	require.Equal(t, "15.00", c.Balance(from))
	require.Equal(t, "2960", c.Transactions(from)[1].Type)
	c.post("accounts/nobody/directentryout", directEntry(t, nil)).refused(400, "invalid_request")
}

// payment is one of the two operations that move money under a request_id.
type payment struct {
	operation string
	text      func(t *testing.T, to string, changes map[string]any) string
}

func payments() []payment {
	return []payment{
		{"transfer", transferTo},
		{"directentryout", func(t *testing.T, _ string, changes map[string]any) string {
			t.Helper()
			return directEntry(t, changes)
		}},
	}
}

func TestSpec_8_TheCachedAnswerIsTheSameBytesFor30Days(t *testing.T) {
	t.Parallel()
	for _, payment := range payments() {
		c := start(t, Options{FrozenClock: true, TokenLifetime: 100 * 24 * time.Hour})
		from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
		send := func(changes map[string]any) string {
			return string(c.post("accounts/"+from+"/"+payment.operation, payment.text(t, to, changes)).ok().body)
		}
		same := map[string]any{"request_id": "r"}
		first := send(same)
		for _, pause := range []time.Duration{0, 15 * 24 * time.Hour, 15*24*time.Hour - time.Second} {
			c.Advance(pause)
			require.Equal(t, first, send(same), payment.operation)
		}
		require.Equal(t, first, send(map[string]any{"request_id": "r", "amount": 7}), "whatever else it says")
		require.Equal(t, 1, c.Movements("r"))
		c.Advance(time.Second)
		again := send(same)
		require.NotEqual(t, first, again, "30 days are over: it counts from the first response, not from the last use")
		require.Equal(t, 2, c.Movements("r"))
		require.Equal(t, again, send(same), "and a new 30 days begin")
		require.NotEqual(t, again, send(map[string]any{"request_id": "R"}), "the id is case sensitive")
	}
}

func TestSpec_8_ACachedAnswerOutlivesTheStateItCameFrom(t *testing.T) {
	t.Parallel()
	for _, payment := range payments() {
		c := start(t, Options{})
		from, to := c.AddAccount(SeedAccount{Balance: "30.00"}), c.AddAccount(SeedAccount{})
		same := payment.text(t, to, map[string]any{"request_id": "r"})
		first := c.post("accounts/"+from+"/"+payment.operation, same).ok().body
		c.SetStatus(from, "closed")
		c.SetStatus(to, "closed")
		require.Equal(t, first, c.post("accounts/"+from+"/"+payment.operation, same).ok().body)
		c.post("accounts/"+from+"/"+payment.operation, payment.text(t, to, map[string]any{"request_id": "r", "amount": -1})).
			refused(400, "invalid_request")
	}
}

func TestSpec_8_AFailureIsNotCached(t *testing.T) {
	t.Parallel()
	for _, payment := range payments() {
		c := start(t, Options{})
		from, to := c.AddAccount(SeedAccount{Balance: "1.00"}), c.AddAccount(SeedAccount{})
		same := payment.text(t, to, map[string]any{"request_id": "r"})
		send := func() map[string]any { return c.post("accounts/"+from+"/"+payment.operation, same).ok().object() }
		first, second := send(), send()
		require.Equal(t, "", first["transaction_id"])
		require.NotEqual(t, first["correlation_id"], second["correlation_id"])
		require.Zero(t, c.Movements("r"))
		c.Adjust(from, "99")
		made := send()
		require.NotEmpty(t, made["transaction_id"])
		require.Equal(t, made, send())
		require.Equal(t, 1, c.Movements("r"))
	}
}

func TestSpec_8_TheCacheOfALoadIsASetting(t *testing.T) {
	t.Parallel()
	for _, uncached := range []bool{false, true} {
		c := start(t, Options{UncachedLoads: uncached})
		from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
		send := func(kind int) string {
			text := transferTo(t, to, map[string]any{"request_id": fmt.Sprint("r-", kind), "transaction_type": kind, "amount": 1})
			return string(c.post("accounts/"+from+"/transfer", text).ok().body)
		}
		first, second := send(2950), send(2950)
		require.Equal(t, !uncached, first == second)
		require.Equal(t, send(1), send(1), "card to card is cached")
		want, twice := "98.00", []prepaid.RequestID(nil)
		if uncached {
			want, twice = "97.00", []prepaid.RequestID{"r-2950"}
		}
		require.Equal(t, want, c.Balance(from))
		require.Equal(t, twice, c.PaidTwice())
	}
}

func TestSpec_4_4_Transfer_EachSourceAndDestinationStatus(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	over := []string{"closed", "replaced", "expired", "lost_or_stolen", "deactivated"}
	for _, status := range AccountStatuses() {
		from, to := c.AddAccount(SeedAccount{Balance: "100.00", Status: status}), c.AddAccount(SeedAccount{})
		got := c.post("accounts/"+from+"/transfer", transferTo(t, to, nil)).ok().object()
		require.Equal(t, status == "active", got["transaction_id"] != "", "from %s", status)
		got = c.post("accounts/"+from+"/directentryout", directEntry(t, nil)).ok().object()
		require.Equal(t, status == "active", got["transaction_id"] != "", "from %s", status)

		from, to = c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{Status: status})
		got = c.post("accounts/"+from+"/transfer", transferTo(t, to, nil)).ok().object()
		require.Equal(t, !slices.Contains(over, status), got["transaction_id"] != "", "to %s", status)
		if got["transaction_id"] == "" {
			require.Equal(t, []string{"100.00", "0.00"}, []string{c.Balance(from), c.Balance(to)})
		}
	}
}

func TestSpec_4_4_Transfer_TheWholeBalanceAndNoMore(t *testing.T) {
	t.Parallel()
	for _, payment := range payments() {
		c := start(t, Options{})
		from, to := c.AddAccount(SeedAccount{Balance: "10.01"}), c.AddAccount(SeedAccount{})
		send := func(amount string) any {
			text := payment.text(t, to, map[string]any{"amount": json.Number(amount)})
			return c.post("accounts/"+from+"/"+payment.operation, text).ok().object()["transaction_id"]
		}
		require.Equal(t, "", send("10.0100000001"))
		require.Equal(t, "10.01", c.Balance(from))
		require.NotEqual(t, "", send("1.2345678901"), "the reference does not limit the decimals")
		require.Equal(t, "8.7754321099", c.Balance(from))
		require.NotEqual(t, "", send("8.7754321099"))
		require.Equal(t, "0.00", c.Balance(from))
		require.Equal(t, "", send("0.0001"))
	}
}

func TestSpec_4_4_Transfer_TransactionType(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	for kind, code := range map[int]string{2950: "2950", 0: "2951", 1: "2951", -1: "2951", 2949: "2951", 2951: "2951"} {
		c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"transaction_type": kind, "amount": 1})).ok()
		for _, id := range []string{from, to} {
			history := c.Transactions(id)
			require.Equal(t, code, history[len(history)-1].Type, kind)
		}
	}
}

func TestSpec_4_4_DirectEntryOut_AFailureIsASetting(t *testing.T) {
	t.Parallel()
	for _, refused := range []bool{false, true} {
		c := start(t, Options{Kind: refused})
		got := c.post("accounts/"+c.AddAccount(SeedAccount{Balance: "9.99"})+"/directentryout", directEntry(t, nil))
		if refused {
			require.Contains(t, got.refused(400, "invalid_request"), "amount")
		} else {
			require.Equal(t, "", got.ok().object()["transaction_id"])
			require.NotEmpty(t, got.object()["correlation_id"])
		}
	}
}

func TestSpec_4_4_DirectEntryOut_TwoBSBs(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from := c.AddAccount(SeedAccount{Balance: "1000"})
	// The outer bsb is required; nothing ties it to the inner one.
	c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{"bsb": "999999"})).ok()
}
