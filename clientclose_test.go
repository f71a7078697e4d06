package prepaid_test

import (
	"context"
	"net/http"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// After Close nothing is sent, by no operation; Close may be called again, also from several sides.
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

// Close ends a token exchange under way, waits for its end, and tells those who wait for it.
func TestCloseEndsTokenExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		service := harness.Split{
			Tokens: harness.NewScript(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				time.Sleep(time.Second) // slow to let go
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

// A call under way ends with its answer, and sends nothing after Close.
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
		time.AfterFunc(time.Second, func() { _ = client.Close() }) // in the pause before the replay
		err := harness.OpTransfer().Call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome)
		require.ErrorIs(t, err, harness.ErrCut)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Len(t, service.Calls.Requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) { // the same with a token source of the caller's
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

// Close gives back the connections of the default transport, and leaves those of a caller's alone.
func TestCloseAndConnections(t *testing.T) {
	t.Parallel()
	closed := func(t *testing.T, transport http.RoundTripper) chan struct{} {
		t.Helper()
		gone := make(chan struct{})
		server := harness.NewServer(t, func(_ int, p *harness.Peer) {
			p.Succeed(harness.OpGet())
			p.Hang()
			close(gone)
		})
		config := harness.Config(server.Address)
		config.Transport = transport
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.NoError(t, client.Close())
		return gone
	}
	<-closed(t, nil)

	own := &http.Transport{}
	t.Cleanup(own.CloseIdleConnections)
	select {
	case <-closed(t, own):
		t.Error("the caller's connection was closed")
	case <-time.After(30 * time.Millisecond):
	}
}
