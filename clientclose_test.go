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
)

// After Close nothing is sent, by no operation; Close may be called again, also from several sides.
func TestCallsAfterClose(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := split{scripted(grant(1, "3600")), scripted(wellAnswered(opGet()))}
		client := newCoreClient(t, credentialed(service))
		require.NoError(t, opGet().call(t.Context(), client))
		for range 3 {
			go func() {
				if err := client.Close(); err != nil {
					t.Error(err)
				}
			}()
		}
		require.NoError(t, client.Close())
		for _, op := range coreOps() {
			err := op.call(t.Context(), client)
			failure := callError(t, err)
			require.ErrorIs(t, err, prepaid.ErrClosed)
			require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
			require.Equal(t, op.name, failure.Operation)
		}
		_, err := client.Token(t.Context())
		require.ErrorIs(t, err, prepaid.ErrClosed)
		_, err = client.Check(t.Context())
		require.ErrorIs(t, err, prepaid.ErrClosed)
		for _, err := range client.Accounts.Search(t.Context(), prepaid.SearchAccountsParams{ProgramClientID: "p", ClientAccountKey: "k"}) {
			require.ErrorIs(t, err, prepaid.ErrClosed)
		}
		require.Len(t, service.tokens.requests(), 1)
		require.Len(t, service.calls.requests(), 1)
	})
}

// Close ends a token exchange under way, waits for its end, and tells those who wait for it.
func TestCloseEndsTokenExchange(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var ended atomic.Bool
		service := split{
			scripted(func(r *http.Request) (*http.Response, error) {
				<-r.Context().Done()
				time.Sleep(time.Second) // slow to let go
				ended.Store(true)
				return nil, r.Context().Err()
			}),
			scripted(wellAnswered(opTransfer())),
		}
		client := newCoreClient(t, credentialed(service))
		failed := make(chan error, 1)
		go func() { failed <- opTransfer().call(t.Context(), client) }()
		synctest.Wait()
		began := time.Now()
		require.NoError(t, client.Close())
		require.True(t, ended.Load(), "Close waits")
		require.Equal(t, time.Second, time.Since(began))
		err := <-failed
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
		require.Empty(t, service.calls.requests())
	})
}

// A call under way ends with its answer, and sends nothing after Close.
func TestCloseDuringCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := scripted(after(time.Second, answered(503, "", "")), wellAnswered(opGet()))
		client := newCoreClient(t, clockConfig(service))
		time.AfterFunc(500*time.Millisecond, func() { _ = client.Close() })
		require.ErrorIs(t, opGet().call(t.Context(), client), prepaid.ErrServer)
		require.Len(t, service.requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) {
		service := split{scripted(grant(1, "3600")), scripted(broken(errCut), wellAnswered(opTransfer()))}
		client := newCoreClient(t, credentialed(service))
		time.AfterFunc(time.Second, func() { _ = client.Close() }) // in the pause before the replay
		err := opTransfer().call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome)
		require.ErrorIs(t, err, errCut)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Len(t, service.calls.requests(), 1)
	})
	synctest.Test(t, func(t *testing.T) { // the same with a token source of the caller's
		service := scripted(broken(errCut), wellAnswered(opTransfer()))
		client := newCoreClient(t, clockConfig(service))
		time.AfterFunc(time.Second, func() { _ = client.Close() })
		err := opTransfer().call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Len(t, service.requests(), 1)
	})
}

// A client that is idle holds no goroutine and no timer, closed or not: a bubble with one left would not end.
func TestIdleClientLeaksNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		for range 10 {
			service := split{scripted(grant(1, "3600")), scripted(wellAnswered(opGet()))}
			config := credentialed(service)
			config.Limiter = nil
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			require.NoError(t, opGet().call(t.Context(), client))
			ctx, cancel := context.WithCancel(t.Context())
			cancel()
			require.Error(t, opGet().call(ctx, client))
		}
	})
}

// Close gives back the connections of the default transport, and leaves those of a caller's alone.
func TestCloseAndConnections(t *testing.T) {
	t.Parallel()
	closed := func(t *testing.T, transport http.RoundTripper) chan struct{} {
		t.Helper()
		gone := make(chan struct{})
		server := newWireServer(t, func(_ int, p *peer) {
			p.succeed(opGet())
			p.hang()
			close(gone)
		})
		config := coreConfig(server.address)
		config.Transport = transport
		client := newCoreClient(t, config)
		require.NoError(t, opGet().call(t.Context(), client))
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
