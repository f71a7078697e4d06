package transport_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/transport"
)

// A dead connection of HTTP/2 is found before the first read on it times out, with the default AttemptTimeout.
func TestPingsEndBeforeAnAttempt(t *testing.T) {
	t.Parallel()
	pings := transport.New().HTTP2
	require.Positive(t, pings.SendPingTimeout)
	require.Positive(t, pings.PingTimeout)
	require.Less(t, pings.SendPingTimeout+pings.PingTimeout, 30*time.Second)
}
