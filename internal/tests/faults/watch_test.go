package faults

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A payment is sent in one write: no server can act on its head before its body arrives.
func TestRequestLeavesInOneWrite(t *testing.T) {
	t.Parallel()
	op := harness.OpTransfer()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(op) })
	var writes atomic.Int32
	transport := &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
		connection, err := new(net.Dialer).DialContext(ctx, network, address)
		return &countedConn{connection, &writes}, err
	}}
	t.Cleanup(transport.CloseIdleConnections)
	config := harness.Config(server.Address)
	config.Transport = transport
	client := harness.NewClient(t, config)
	for range 5 {
		require.NoError(t, op.Call(t.Context(), client))
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
