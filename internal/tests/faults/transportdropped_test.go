package faults

import (
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Clients of the caller's transport that are dropped, not closed, leave no connection.
func TestDroppedClientsLeaveNothing(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		server := harness.NewPipes(t, func(_ int, p *harness.Peer) { p.Succeed(harness.OpTransfer()) })
		shared := &http.Transport{DialContext: server.Dial}
		for range 100 {
			config := harness.Config(server.Address)
			config.Transport = shared
			client, err := prepaid.NewClient(config)
			require.NoError(t, err)
			client, err = client.With(prepaid.Overrides{AttemptTimeout: time.Minute})
			require.NoError(t, err)
			require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		}
		shared.CloseIdleConnections()
		require.Equal(t, 100, server.Left())
		time.Sleep(90 * time.Second)
		synctest.Wait()
		require.Zero(t, server.Left())
	})
}
