package faults

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Four idle connections of HTTP/1.1 that are dead cost one time-out: the repeat opens its own connection, and the client closes the idle
// ones. It leaves those of the caller's transport, which carry reads.
func TestDeadIdleConnections(t *testing.T) {
	t.Parallel()
	const kept = 4
	pay := func(ctx context.Context, c *prepaid.Client) error {
		_, err := c.Accounts.Transfer(ctx, "acc-1", harness.TransferTo("acc-2", "1.00"))
		return err
	}
	for _, x := range []struct {
		op     harness.Op
		call   func(context.Context, *prepaid.Client) error
		second int // attempts of the second call
	}{
		{harness.OpTransfer(), pay, 1},
		{harness.OpGet(), harness.OpGet().Call, 2},
	} {
		synctest.Test(t, func(t *testing.T) {
			var dead atomic.Bool
			var warm sync.WaitGroup
			warm.Add(kept)
			server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
				switch {
				case !dead.Load():
					warm.Done()
					warm.Wait()
				case p.Request.Connection <= kept:
					p.Hang()
					return
				}
				p.Succeed(x.op)
			})
			config := harness.ClockConfig(server.Transport())
			config.BaseURL = server.Address + "/3.0/"
			client := harness.NewClient(t, config)
			var calls sync.WaitGroup
			for range kept {
				calls.Go(func() { require.NoError(t, x.call(t.Context(), client)) })
			}
			calls.Wait()
			require.Equal(t, kept, server.Left())
			dead.Store(true)
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()
			for _, attempts := range []int{2, x.second} {
				var wire harness.Capture
				require.NoError(t, x.call(wire.In(ctx), client))
				require.Equal(t, attempts, wire.Attempts())
			}
		})
	}
}

// The transport's own time-out is a failed attempt, on a kept connection too.
func TestHeaderTimeoutCounts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		asked := 0
		server := harness.NewPipes(t, func(_ int, p *harness.Peer) {
			if asked++; asked > 1 {
				p.Hang()
				return
			}
			p.Succeed(harness.OpGet())
		})
		config := harness.PipesConfig(server)
		base := server.Transport()
		base.ResponseHeaderTimeout = time.Second
		config.Transport, config.Retry.MaxAttempts = base, 2
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.Error(t, harness.OpGet().Call(t.Context(), client))
		require.Len(t, server.Seen(), 3)
	})
}

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
