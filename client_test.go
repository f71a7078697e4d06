package prepaid_test

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

const oneCategory = `[{"code":5411,"description":"Grocery"}]`

// Check reports the token's life, the clocks' difference, the time of the read and the media type as received.
func TestCheck(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		headers []string
		skew    time.Duration
	}{
		"ahead":          {[]string{"Date: Sat, 01 Jan 2000 00:01:02 GMT"}, time.Minute},
		"behind":         {[]string{"Date: Fri, 31 Dec 1999 23:59:02 GMT"}, -time.Minute},
		"within seconds": {[]string{"Date: Sat, 01 Jan 2000 00:00:01 GMT"}, 0},
		"no date":        {nil, 0},
		"a bad date":     {[]string{"Date: today"}, 0},
	} {
		bubble(t, name, func(t *testing.T) {
			service := harness.Split{
				Tokens: harness.NewScript(harness.After(time.Second, harness.Grant(1, "3600"))),
				Calls:  harness.NewScript(harness.After(2*time.Second, harness.Respond(200, "application/json; charset=utf-8", oneCategory, tc.headers...))),
			}
			result, err := harness.NewClient(t, harness.CredentialsConfig(service)).Check(t.Context())
			require.NoError(t, err)
			require.Len(t, result.Warnings, 2, "a Script has no connections, and the media type is not the service's")
			result.Warnings = nil
			require.Equal(t, &prepaid.CheckResult{
				TokenLifetime: time.Hour - 2*time.Second, ClockSkew: tc.skew, RoundTrip: 2 * time.Second,
				MediaType: "application/json; charset=utf-8",
			}, result)
			request := service.Calls.Requests()[0]
			require.Equal(t, "/3.0/policy/mccodes?page_number=1&page_size=1", request.Target)
			require.Equal(t, http.MethodGet, request.Method)
			require.Len(t, service.Calls.Requests(), 1)
		})
	}
}

// An empty list is a good response, and a token may have no known lifetime.
func TestCheckWithoutDetails(t *testing.T) {
	t.Parallel()
	result, err := harness.NewClient(t, scripted(harness.NewScript(harness.Respond(204, "", "")))).Check(t.Context())
	require.NoError(t, err)
	require.Zero(t, result.TokenLifetime)
	require.Zero(t, result.ClockSkew)
	require.Empty(t, result.MediaType)
}

// If a proxy replaces the media type, Check warns that payments end with unknown outcome, unless the type is listed.
func TestCheckWarnsOfTheMediaType(t *testing.T) {
	t.Parallel()
	for _, listed := range [][]string{nil, {"text/plain"}} {
		config := harness.Config("https://cards.example")
		config.Transport, config.MediaTypes = harness.NewScript(harness.Respond(200, "text/plain", oneCategory)), listed
		result, err := harness.NewClient(t, config).Check(t.Context())
		require.NoError(t, err)
		require.Equal(t, listed == nil, strings.Contains(fmt.Sprint(result.Warnings), "the outcome of every payment is unknown"))
		require.Contains(t, fmt.Sprint(result.Warnings), "no payment of unknown outcome is sent again")
	}
}

// If the caller's source returns nothing, the check fails and does not crash.
func TestCheckWithEmptySource(t *testing.T) {
	t.Parallel()
	config := scripted(harness.NewScript(harness.Respond(200, harness.VendorJSON, oneCategory)))
	config.Token = harness.TokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) { return nil, nil }) //nolint:nilnil // the fault
	_, err := harness.NewClient(t, config).Check(t.Context())
	require.ErrorAs(t, err, new(*prepaid.TokenError))
}

// After Close no operation sends anything. Close may be called again, also concurrently.
func TestCallsAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: harness.NewScript(harness.Succeed(harness.OpGet()))}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		for range 3 {
			go func() {
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}()
		}
		require.NoError(t, client.Close())
		for _, op := range harness.Ops() {
			err := op.Call(t.Context(), client)
			failure := harness.CallError(t, err)
			require.ErrorIs(t, err, prepaid.ErrClosed)
			require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
			require.Equal(t, op.Name, failure.Operation)
		}
		_, err := client.Token(t.Context())
		require.ErrorIs(t, err, prepaid.ErrClosed)
		_, err = client.Check(t.Context())
		require.ErrorIs(t, err, prepaid.ErrClosed)
		for _, err := range client.Accounts.Search(t.Context(), prepaid.SearchAccountsParams{ProgramClientID: "p", ClientAccountKey: "k"}) {
			require.ErrorIs(t, err, prepaid.ErrClosed)
		}
		require.Len(t, service.Tokens.Requests(), 1)
		require.Len(t, service.Calls.Requests(), 1)
	})
}

// Close ends a token exchange in progress and waits for its end; calls that wait for the token fail.
func TestCloseEndsTokenExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		service := harness.Split{
			Tokens: harness.NewScript(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				time.Sleep(time.Second) // slow to end
				ended.Store(true)
				return nil, r.Context().Err()
			}),
			Calls: harness.NewScript(harness.Succeed(harness.OpTransfer())),
		}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		failed := make(chan error, 1)
		go func() { failed <- harness.OpTransfer().Call(t.Context(), client) }()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, client.Close())
		require.True(t, ended.Load(), "Close waits")
		require.Equal(t, time.Second, time.Since(began))
		err := <-failed
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
		require.Empty(t, service.Calls.Requests())
	})
}

// A call in progress ends with its response, and sends nothing after Close.
func TestCloseDuringCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.After(time.Second, harness.Respond(503, "", "")), harness.Succeed(harness.OpGet()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		time.AfterFunc(500*time.Millisecond, func() { _ = client.Close() })
		require.ErrorIs(t, harness.OpGet().Call(t.Context(), client), prepaid.ErrServer)
		require.Len(t, service.Requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		time.AfterFunc(time.Second, func() { _ = client.Close() }) // in the pause before the repeat
		err := harness.OpTransfer().Call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
		require.ErrorIs(t, err, harness.ErrCut)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Len(t, service.Calls.Requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) { // the same with the caller's token source
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		client := harness.NewClient(t, harness.ClockConfig(service))
		time.AfterFunc(time.Second, func() { _ = client.Close() })
		err := harness.OpTransfer().Call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Len(t, service.Requests(), 1)
	})
}

// A client that is idle holds no goroutine and no timer, closed or not: a bubble with one left would not end.
func TestIdleClientLeaksNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 10 {
			service := harness.Split{Tokens: harness.NewScript(harness.Grant(1, "3600")), Calls: harness.NewScript(harness.Succeed(harness.OpGet()))}
			config := harness.CredentialsConfig(service)
			config.Limiter = nil
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			require.NoError(t, harness.OpGet().Call(t.Context(), client))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, harness.OpGet().Call(ctx, client))
		}
	})
}

// Close closes the connections of the default transport, not those of the caller's transport.
func TestCloseAndConnections(t *testing.T) {
	t.Parallel()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(harness.OpGet()) })
	closed := func(transport http.RoundTripper) {
		config := harness.Config(server.Address)
		config.Transport = transport
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.NoError(t, client.Close())
	}
	closed(nil)
	server.AwaitNoneLeft()

	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	for range 3 {
		closed(own)
	}
	require.Equal(t, 2, server.Connections(), "the clients share the caller's connection")
}
