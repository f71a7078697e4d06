package prepaid_test

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// A payment leaves in one write: nobody can act on its head before its body is there.
func TestRequestLeavesInOneWrite(t *testing.T) {
	t.Parallel()
	op := opTransfer()
	server := newWireServer(t, func(_ int, p *peer) { p.succeed(op) })
	var writes atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{connection, &writes}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	config := coreConfig(server.address)
	config.Transport = transport
	client := newCoreClient(t, config)
	for range 5 {
		require.NoError(t, op.call(t.Context(), client))
	}
	require.EqualValues(t, 5, writes.Load())
}

type countedConn struct {
	net.Conn
	writes *atomic.Int32
}

// Write counts.
func (c *countedConn) Write(p []byte) (int, error) {
	c.writes.Add(1)
	return c.Conn.Write(p)
}
