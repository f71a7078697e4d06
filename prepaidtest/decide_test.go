package prepaidtest

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

const decidedPayment = `{"request_id":"%s","amount":1.5,"source_reference":"s","destination_reference":"d","destination_account_id":"%s","transaction_type":1}`

func TestDecide_CountsArrivals(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "1000.00"}), c.AddAccount(SeedAccount{})
	pay := func(id string) { c.post("accounts/"+from+"/transfer", fmt.Sprintf(decidedPayment, id, to)).ok() }
	pay("before")
	var seen []Arrival
	c.Decide(func(_ context.Context, a Arrival) Fault {
		seen = append(seen, a)
		return Fault{}
	})
	pay("a")
	c.get("accounts/" + from).ok()
	pay("b")
	pay("a")
	c.newToken()
	c.send("GET", "accounts/"+from, "", nil).refused(401, "unauthorized") // no good token
	account := prepaid.AccountID(from)
	require.Equal(t, []Arrival{
		{1, transferOperation, account, "1.5", "a", 1, 1}, {2, "GET /accounts/{id}", account, "", "", 1, 0},
		{3, transferOperation, account, "1.5", "b", 2, 1}, {4, transferOperation, account, "1.5", "a", 3, 2}, {5, "POST /token", "", "", "", 1, 0},
	}, seen)
	c.Decide(nil)
	pay("c")
	require.Len(t, seen, 5)
	numbers := make([]int64, 0, 9)
	for _, r := range c.Requests() {
		numbers = append(numbers, r.Arrival)
	}
	require.Equal(t, []int64{0, 0, 1, 2, 3, 4, 5, 0, 0}, numbers)
}

func TestDecide_PrecedesArmedFaultsAndIsUsedOnce(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	c.Inject(codesOperation, Respond(500, ""))
	fault := Respond(503, "").Always()
	c.Decide(func(context.Context, Arrival) Fault { return fault })
	c.get("policy/mccodes").refused(503, "server_error")
	fault = Fault{}.Always()
	c.get("policy/mccodes").refused(500, "server_error")
	c.get("policy/mccodes").ok()
	require.Empty(t, c.Faults())
}

func TestDecide_WrongFaults(t *testing.T) {
	t.Parallel()
	tb := &failures{TB: t}
	c := startFor(t, tb, Options{})
	c.Decide(func(_ context.Context, a Arrival) Fault { return ExpireToken() })
	c.token = c.newToken()
	c.Decide(func(context.Context, Arrival) Fault { return Respond(1, "") })
	c.get("policy/mccodes").ok()
	require.Equal(t, []string{
		"prepaidtest: Decide: ExpireToken is not for the token endpoint", "prepaidtest: Decide: the status must be 200 to 999",
	}, tb.messages)
}

// A repeat that is held until the first request has ended arrives after it.
func TestDecide_HoldsARepeatUntilTheFirstHasEnded(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, Options{InMemory: true})
		from, to := c.AddAccount(SeedAccount{Balance: "1000.00"}), c.AddAccount(SeedAccount{})
		running := make(chan struct{})
		c.Decide(func(ctx context.Context, a Arrival) Fault {
			if a.Sending == 1 {
				return DropBeforeCommit().CommitAfter(30 * time.Second)
			}
			close(running)
			for len(c.RunningTransfers()) > 0 && ctx.Err() == nil {
				time.Sleep(time.Second)
			}
			return Fault{}
		})
		text := fmt.Sprintf(decidedPayment, "r", to)
		_, err := c.try("POST", "accounts/"+from+"/transfer", text, c.header(text))
		require.Error(t, err)
		c.post("accounts/"+from+"/transfer", text).ok()
		<-running
		require.NoError(t, c.WaitIdle(t.Context()))
		require.Equal(t, 1, c.Movements("r"))
		requests := c.Requests()
		require.True(t, requests[len(requests)-1].Replayed)
	})
}
