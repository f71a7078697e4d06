package exchange

import (
	"context"
	"net"
	"net/http"
	"net/http/httptest"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// The kernel retransmits for the remaining time of the attempt, for each request on a connection.
func TestRetransmissionEndsWithTheAttempt(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.NotFoundHandler())
	defer server.Close()
	var conn *net.TCPConn
	s := NewSender(&http.Transport{DialContext: dialAs(func(c net.Conn) net.Conn {
		conn = c.(*net.TCPConn)
		return c
	})}, nil)
	defer s.CloseIdle()
	const userTimeout = 0x12
	for limit, deadline := range map[time.Duration]time.Duration{time.Minute: time.Hour, time.Hour: time.Minute} {
		r := requestTo(t, server.URL)
		r.Method, r.Body, r.Effect = http.MethodPost, []byte("content"), true
		ctx, cancel := context.WithTimeout(t.Context(), deadline)
		x, ctx := s.Begin(ctx, time.Now(), limit, true)
		response, failure := x.Send(ctx, r) //nolint:bodyclose // Read closes it
		require.NoError(t, failure.Err)
		_, err := new(Buffer).Read(ctx, response, 1<<10)
		require.NoError(t, err)
		x.End()
		cancel()
		raw, err := conn.SyscallConn()
		require.NoError(t, err)
		require.NoError(t, raw.Control(func(fd uintptr) {
			value, err := syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, userTimeout)
			if err != nil || value > 60_000 || value < 55_000 {
				t.Errorf("%d ms, %v", value, err)
			}
		}))
	}
}
