package prepaidtest

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// bubble is an emulator inside a synctest bubble, with an account that has money and one that has none.
func bubble(t *testing.T, options Options) (c *caller, from, to string) {
	t.Helper()
	options.InMemory = true
	c = start(t, options)
	return c, c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
}

// By the reference only handled transfers are cached: a repeat that arrives while the first is running moves the
// money again.
func TestSpec_8_ARepeatThatOvertakesTheFirstIsCarriedOutToo(t *testing.T) {
	t.Parallel()
	for _, fault := range []Fault{DropBeforeCommit(), ProxyPage(502), Respond(504, "server_error"), RespondBody(500, "text/plain", "no")} {
		for _, payment := range payments() {
			for _, frozen := range []bool{false, true} {
				t.Run(fmt.Sprint(fault, " ", payment.operation, " ", frozen), func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) { overtake(t, fault, payment, frozen) })
				})
			}
		}
	}
}

func overtake(t *testing.T, fault Fault, payment payment, frozen bool) {
	t.Helper()
	var options Options
	if frozen {
		options = Options{FrozenClock: true, RateLimit: -1}
	}
	c, from, to := bubble(t, options)
	text := payment.text(t, to, map[string]any{"request_id": "r", "amount": 10})
	send := func() (reply, error) {
		return c.try("POST", "accounts/"+from+"/"+payment.operation, text, c.header(text))
	}
	c.Inject("POST /accounts/{id}/"+payment.operation, fault.CommitAfter(12*time.Second))
	lost, err := send()
	if fault == DropBeforeCommit() {
		require.Error(t, err)
	} else {
		require.NoError(t, err)
		require.Equal(t, fault.fault.Status, lost.status)
	}
	time.Sleep(12*time.Second - time.Nanosecond)
	synctest.Wait()
	require.Zero(t, c.Movements("r"), "still running")
	second, err := send()
	require.NoError(t, err)
	require.Equal(t, 200, second.status)
	require.Equal(t, 1, c.Movements("r"))
	require.Empty(t, c.PaidTwice())
	require.NoError(t, c.WaitIdle(t.Context()))
	require.Equal(t, 2, c.Movements("r"))
	require.Equal(t, []prepaid.RequestID{"r"}, c.PaidTwice())
	require.Equal(t, "80.00", c.Balance(from))
	history := c.Transactions(from)
	require.Len(t, history, 3)
	require.NotEqual(t, history[1].ID, history[2].ID)

	third, err := send() // both are over: the response cached first remains
	require.NoError(t, err)
	require.Equal(t, string(second.body), string(third.body))
	require.Equal(t, 2, c.Movements("r"))
}

// A delayed request is running from its arrival, whether or not its caller waits.
func TestSpec_8_ADelayedTransferIsRunning(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, from, to := bubble(t, Options{})
		c.Inject(transferOperation, Delay(3*time.Second).Times(4))
		text := transferTo(t, to, map[string]any{"request_id": "r", "amount": 1})
		var group sync.WaitGroup
		for range 4 {
			group.Go(func() { c.post("accounts/"+from+"/transfer", text).ok() })
			time.Sleep(900 * time.Millisecond) // the last one arrives before the first has ended
		}
		group.Wait()
		require.Equal(t, 4, c.Movements("r"))
		require.Equal(t, []prepaid.RequestID{"r"}, c.PaidTwice())

		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		c.Inject(transferOperation, Delay(5*time.Second))
		text = transferTo(t, to, map[string]any{"request_id": "left", "amount": 1})
		request, err := http.NewRequestWithContext(ctx, "POST", c.URL+"accounts/"+from+"/transfer", strings.NewReader(text))
		require.NoError(t, err)
		request.Header = c.header(text)
		response, err := c.http.Do(request)
		if err == nil {
			_ = response.Body.Close()
		}
		require.ErrorIs(t, err, context.DeadlineExceeded)
		c.post("accounts/"+from+"/transfer", text).ok()
		time.Sleep(5 * time.Second)
		synctest.Wait()
		require.Equal(t, 2, c.Movements("left"), "the caller left, the request went on")
	})
}

// Late execution is possible for all operations, and uses the state of that time.
func TestFault_CommitAfterOfAnyOperation(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c, from, _ := bubble(t, Options{})
		c.Inject("PUT /accounts/{id}/plastic", DropBeforeCommit().CommitAfter(time.Minute))
		text := `{"plastic_enabled":true}`
		_, err := c.try("PUT", "accounts/"+from+"/plastic", text, c.header(text))
		require.Error(t, err)
		c.do("PUT", "accounts/"+from+"/plastic", `{"plastic_enabled":false}`).ok()
		require.False(t, c.Account(from).PlasticEnabled)
		time.Sleep(time.Minute)
		synctest.Wait()
		require.True(t, c.Account(from).PlasticEnabled)

		c.Inject("GET /accounts/{id}/transactions", ProxyPage(504).CommitAfter(time.Second)) // nothing to do later
		require.Equal(t, 504, c.get("accounts/"+from+"/transactions").status)
		require.NoError(t, c.WaitIdle(t.Context()))
		require.Equal(t, 504, c.Requests()[len(c.Requests())-1].Status)
	})
}

func TestFault_CommitAfterEndsWithTheServer(t *testing.T) {
	t.Parallel()
	c := start(t, Options{})
	from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
	c.Inject(transferOperation, ProxyPage(502).CommitAfter(time.Hour))
	require.Equal(t, 502, c.post("accounts/"+from+"/transfer", transferTo(t, to, map[string]any{"request_id": "r"})).status)
	require.NoError(t, c.Close())
	require.Equal(t, 1, c.Movements("r"), "what still runs is carried out, so that nothing sent is without a result")
}

func TestFault_CommitAfterIsForFaultsThatCarryNothingOut(t *testing.T) {
	t.Parallel()
	for _, fault := range []Fault{{}, CommitThenDrop(), Delay(1), Truncate(), SubstituteContentType(""), TooManyRequests(0), ExpireToken()} {
		require.Error(t, fault.CommitAfter(time.Second).fault.Check(), fault.String())
	}
	for _, fault := range []Fault{DropBeforeCommit(), ProxyPage(502), Respond(500, ""), RespondBody(200, "", "")} {
		require.NoError(t, fault.CommitAfter(1).fault.Check())
		require.Error(t, fault.CommitAfter(0).fault.Check())
	}
}

// The log of a failed test and that of a program name payments made twice.
func TestPaidTwiceIsReported(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		test := &watched{failures: failures{TB: t}, failed: true}
		log := new(bytes.Buffer)
		c := startFor(t, test, Options{InMemory: true, Logger: slog.New(slog.NewTextHandler(log, nil))})
		c.token = c.newToken()
		from, to := c.AddAccount(SeedAccount{Balance: "100.00"}), c.AddAccount(SeedAccount{})
		c.Inject(transferOperation, ProxyPage(502).CommitAfter(time.Second))
		text := transferTo(t, to, map[string]any{"request_id": "r-17", "amount": 1})
		c.post("accounts/"+from+"/transfer", text)
		require.NotContains(t, log.String(), "WARN")
		c.post("accounts/"+from+"/transfer", text).ok()
		c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{"request_id": "r-17"})).ok()
		c.post("accounts/"+from+"/directentryout", directEntry(t, map[string]any{"request_id": "other"})).ok()
		require.NoError(t, c.WaitIdle(t.Context()))
		require.Equal(t, []prepaid.RequestID{"r-17"}, c.PaidTwice())
		require.Contains(t, log.String(), `level=WARN msg="one request_id made another movement" operation="`+transferOperation+`" movements=2`)
		require.NotContains(t, log.String(), "r-17")
		test.end()
		require.Contains(t, strings.Join(test.logs, "\n"), `more than one movement: ["r-17"]`)
	})
}
