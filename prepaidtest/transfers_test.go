package prepaidtest

import (
	"encoding/json"
	"slices"
	"strconv"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// The reference does not limit the decimals of an amount: the emulator takes any number that the client sends.
func TestAnAmountMayHaveAnyDecimals(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100"}), c.AddAccount(SeedAccount{})
	_, err := c.Client().Accounts.Transfer(t.Context(), prepaid.AccountID(from), prepaid.TransferParams{
		RequestID: "r", Amount: prepaid.MustAmount("1.2345678901"), DestinationAccountID: prepaid.AccountID(to),
		SourceReference: "s", DestinationReference: "d",
	})
	require.NoError(t, err)
	require.Equal(t, "98.7654321099", c.Balance(from))
	require.Equal(t, "1.2345678901", c.Balance(to))
}

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

func TestSpec_4_4_Transfer_InputIsChecked(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	for _, test := range []struct {
		field string
		value any
	}{
		{"amount", nil}, {"amount", 0}, {"amount", -1}, {"amount", "25.50"}, {"source_reference", nil},
		{"destination_reference", nil}, {"destination_account_id", nil}, {"transaction_type", nil}, {"transaction_type", "2950"},
		{"transaction_type", 2950.5}, {"request_id", 7}, {"initiating_user_id", "x"},
	} {
		description := c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{test.field: test.value})).refused(400, "invalid_request")
		require.Contains(t, description, test.field)
	}
	c.post("accounts/nobody/transfer", transferTo(t, to, nil)).refused(400, "invalid_request")
	require.Equal(t, "100.00", c.Balance(from))
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
	for _, test := range []struct {
		field string
		value any
	}{
		{"amount", nil}, {"amount", 0}, {"source_reference", nil}, {"destination_reference", nil}, {"bsb", nil}, {"destination_account_info", nil},
		{"destination_account_info.account_name", nil}, {"destination_account_info.more", "x"}, {"destination_account_id", "x"},
	} {
		description := c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{test.field: test.value})).refused(400, "invalid_request")
		require.Contains(t, description, test.field)
	}
	c.post("accounts/nobody/directentryout", directEntry(t, nil)).refused(400, "invalid_request")
}

// 100 concurrent requests with one request_id make 100 movements.
func TestTransfer_OneRequestIDAtTheSameTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, from, to := bubble(t, Options{})
		text := transferTo(t, to, map[string]any{"request_id": "same", "amount": 0.25})
		answers := make([]string, 100)
		c.Inject(transferOperation, Delay(time.Second).Times(len(answers)))
		var group sync.WaitGroup
		for i := range answers {
			group.Go(func() { answers[i] = string(c.post("accounts/"+from+"/transfer", text).ok().body) })
		}
		group.Wait()
		slices.Sort(answers)
		require.Len(t, slices.Compact(answers), 100)
		require.Equal(t, 100, c.Movements("same"))
		require.Equal(t, []prepaid.RequestID{"same"}, c.PaidTwice())
		require.Equal(t, "75.00", c.Balance(from))
	})
}

// In any concurrent operations, no money is made or lost, and every balance is its history's sum.
func TestLedgerHoldsUnderConcurrentMovements(t *testing.T) {
	t.Parallel()
	c := start(t, Options{RateLimit: -1})
	var ids []string
	for range 5 {
		ids = append(ids, c.AddAccount(SeedAccount{Balance: "20"}))
	}
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 60 {
				from, to := ids[(worker+i)%5], ids[(worker+i*3+1)%5]
				text := transferTo(t, to, map[string]any{"amount": json.Number(strconv.Itoa(i%9+1) + ".25"), "request_id": "w" + strconv.Itoa(worker%4) + "-" + strconv.Itoa(i)})
				_, _ = c.try("POST", "accounts/"+from+"/transfer", text, c.header(text))
			}
		})
	}
	group.Wait()
	var total wire.Money
	for _, id := range ids {
		var sum wire.Money
		for _, item := range c.Transactions(id) {
			amount, err := wire.ParseMoney(item.Amount)
			require.NoError(t, err)
			sum, _ = sum.Plus(amount)
			require.Equal(t, sum.String(), item.RunningBalance)
			require.GreaterOrEqual(t, sum.Sign(), 0)
		}
		require.Equal(t, sum.String(), c.Balance(id))
		total, _ = total.Plus(sum)
	}
	require.Equal(t, "100.00", total.String())
	for worker := range 4 {
		for i := range 60 {
			require.LessOrEqual(t, c.Movements("w"+strconv.Itoa(worker)+"-"+strconv.Itoa(i)), 2, "each is sent twice, by two workers")
		}
	}
}
