package faults

import (
	"net/http"
	"runtime"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// drop makes a payment with each of 100 clients that share a transport, and closes none of them.
func drop(t *testing.T, server *harness.Server, shared *http.Transport) {
	t.Helper()
	config := harness.Config(server.Address)
	config.Transport = shared
	for range 100 {
		client, err := prepaid.NewClient(config)
		require.NoError(t, err)
		client, err = client.With(prepaid.Overrides{AttemptTimeout: time.Minute})
		require.NoError(t, err)
		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
	}
	shared.CloseIdleConnections()
}

// Clients of the caller's transport that are dropped, not closed, leave no connection.
func TestDroppedClientsLeaveNothing(t *testing.T) {
	t.Parallel()
	pay := func(_ int, p *harness.Peer) { p.Succeed(harness.OpTransfer()) }
	server := harness.NewServer(t, pay)
	drop(t, server, &http.Transport{})
	for began := time.Now(); server.Left() > 0 && time.Since(began) < time.Minute; {
		runtime.GC() //nolint:revive // drops the clients
	}
	require.Zero(t, server.Left())
	require.Equal(t, 100, server.Connections())

	synctest.Test(t, func(t *testing.T) { // the garbage collector may close nothing of a bubble
		server := harness.NewPipes(t, pay)
		drop(t, server, &http.Transport{DialContext: server.Dial})
		runtime.GC()
		require.Equal(t, 100, server.Left())
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Zero(t, server.Left())
	})
}
