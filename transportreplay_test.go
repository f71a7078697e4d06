package prepaid_test

import (
	"context"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// eachTransport runs a test over the default transport and over one of the caller's.
func eachTransport(t *testing.T, test func(t *testing.T, config func(address string) prepaid.Config)) {
	t.Helper()
	t.Run("default", func(t *testing.T) {
		t.Parallel()
		test(t, coreConfig)
	})
	t.Run("caller's", func(t *testing.T) {
		t.Parallel()
		transport := &http.Transport{MaxIdleConnsPerHost: 4}
		t.Cleanup(transport.CloseIdleConnections)
		test(t, func(address string) prepaid.Config {
			config := coreConfig(address)
			config.Transport = transport
			return config
		})
	})
}

// net/http sends a GET again by itself when a kept-alive connection breaks. A report start must not be: the service
// may have begun the run.
func TestReportStartOnStaleConnectionIsSentOnce(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
		t.Helper()
		server := newWireServer(t, func(_ int, p *peer) {
			if p.request.target == opGet().path {
				p.succeed(opGet())
				return
			}
			p.reset() // after reading the whole request
		})
		client := newCoreClient(t, config(server.address))
		require.NoError(t, opGet().call(t.Context(), client))
		err := opStart().call(t.Context(), client)
		require.Equal(t, prepaid.OutcomeUnknown, callError(t, err).Outcome)
		require.Equal(t, 1, callError(t, err).Attempts)
		require.Len(t, server.seen(), 2, "one read and one start")
	})
}

// The same fault on an ordinary read: a stale connection costs nothing.
func TestReadOnStaleConnectionIsRepeated(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
		t.Helper()
		server := newWireServer(t, func(n int, p *peer) {
			if n == 2 {
				p.reset()
				return
			}
			p.succeed(opGet())
		})
		client := newCoreClient(t, config(server.address))
		require.NoError(t, opGet().call(t.Context(), client))
		require.NoError(t, opGet().call(t.Context(), client))
		require.Len(t, server.seen(), 3)
	})
}

// A write that went out on a kept-alive connection which then breaks, as only a RoundTripper that does not pass Close on
// brings about, is not repeated by net/http, and not by the client unless its class allows it.
func TestWriteOnStaleConnection(t *testing.T) {
	t.Parallel()
	for _, op := range []coreOp{opCreate(), opRedeem(), opActivate()} {
		t.Run(op.name, func(t *testing.T) {
			t.Parallel()
			server := newWireServer(t, func(n int, p *peer) {
				if n == 1 {
					p.succeed(opGet())
					return
				}
				_ = p.Close()
			})
			kept := &http.Transport{}
			t.Cleanup(kept.CloseIdleConnections)
			config := coreConfig(server.address)
			config.Transport = roundTripFunc(func(r *http.Request) (*http.Response, error) {
				keeps := *r
				keeps.Close = false
				return kept.RoundTrip(&keeps)
			})
			client := newCoreClient(t, config)
			require.NoError(t, opGet().call(t.Context(), client))
			failure := callError(t, op.call(t.Context(), client))
			require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
			seen := server.seen()
			require.Len(t, seen, 2)
			require.Equal(t, seen[0].connection, seen[1].connection, "the connection was kept alive")
		})
	}
}

// The 204 of a report that is not ready comes with a body, which net/http would read as the next answer on the same
// connection.
func TestNotReadyWithBodyDoesNotPoisonTheNextCall(t *testing.T) {
	t.Parallel()
	run := prepaid.ReportRun{Template: "daily", ID: "run-1"}
	polls := map[string]func(ctx context.Context, c *prepaid.Client) error{
		"Result": func(ctx context.Context, c *prepaid.Client) error {
			_, err := c.Reporting.Result(ctx, run)
			return err
		},
		"Open": func(ctx context.Context, c *prepaid.Client) error {
			ctx, cancel := context.WithTimeout(ctx, 900e6) // shorter than the first pause
			defer cancel()
			_, err := c.Reporting.Open(ctx, run, prepaid.WaitOptions{})
			return err
		},
	}
	for name, poll := range polls {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
				t.Helper()
				server := newWireServer(t, func(_ int, p *peer) {
					if strings.Contains(p.request.target, "/reports/") {
						p.write("HTTP/1.1 204 No Content\r\nContent-Type: " + vendorJSON + "\r\n\r\n" +
							`{"error":"wait","error_description":"still processing"}`)
						return
					}
					p.succeed(opGet())
				})
				client := newCoreClient(t, config(server.address))
				require.NoError(t, opGet().call(t.Context(), client)) // a connection to be reused
				for range 5 {
					err := poll(t.Context(), client)
					require.ErrorIs(t, err, prepaid.ErrReportNotReady)
					require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
					var wire prepaid.Capture
					require.NoError(t, opGet().call(prepaid.WithCapture(t.Context(), &wire), client))
					require.Equal(t, 1, wire.Last().Attempts, "not by way of a repeated read")
				}
				require.Len(t, server.seen(), 11)
			})
		})
	}
}

// What may go again shares a connection. What is never repeated, and what has no response body, closes its own.
func TestConnectionsAreReused(t *testing.T) {
	t.Parallel()
	server := newWireServer(t, func(_ int, p *peer) {
		for _, op := range coreOps() {
			if strings.HasPrefix(p.request.target, op.path+"?") || p.request.target == op.path && p.request.method != http.MethodGet ||
				op.name == "Accounts.Get" && p.request.target == op.path {
				p.succeed(op)
				return
			}
		}
		t.Errorf("unexpected request %s", p.request.target)
	})
	client := newCoreClient(t, coreConfig(server.address))
	for range 3 {
		for _, op := range coreOps() {
			require.NoError(t, op.call(t.Context(), client), op.name)
		}
	}
	own, shared := map[int]bool{}, map[int]bool{}
	for _, request := range server.seen() {
		if request.target == opTransfer().path || request.target == opGet().path {
			require.Empty(t, request.header.Get("Connection"))
			shared[request.connection] = true
			continue
		}
		require.Equal(t, "close", request.header.Get("Connection"))
		require.Empty(t, request.header.Get("Transfer-Encoding"), "a body that is empty is none")
		require.Equal(t, request.method == http.MethodGet, request.body == "")
		own[request.connection] = true
	}
	require.Len(t, own, 3*(len(coreOps())-2), "one connection a request")
	require.Len(t, shared, 1)
}

// Calls side by side keep their connections: net/http by itself keeps two and churns through the rest.
func TestConnectionsSideBySide(t *testing.T) {
	t.Parallel()
	const workers = 12
	var gate sync.WaitGroup
	server := newWireServer(t, func(_ int, p *peer) {
		gate.Done()
		gate.Wait() // all of a round are under way at once
		p.succeed(opGet())
	})
	client := newCoreClient(t, coreConfig(server.address))
	for range 3 {
		gate.Add(workers)
		var calls sync.WaitGroup
		for range workers {
			calls.Go(func() {
				if err := opGet().call(t.Context(), client); err != nil {
					t.Error(err)
				}
			})
		}
		calls.Wait()
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	require.Equal(t, workers, server.connections)
}

// net/http repeats any POST that carries one of the idempotency headers.
func TestNoIdempotencyHeader(t *testing.T) {
	t.Parallel()
	for _, op := range coreOps() {
		service := scripted(broken(errCut))
		config := coreConfig("https://cards.example")
		config.Transport, config.AttemptTimeout = service, 100*time.Millisecond
		require.Error(t, op.call(t.Context(), newCoreClient(t, config)))
		for _, request := range service.requests() {
			for name := range request.header {
				require.NotContains(t, strings.ToLower(name), "idempotency")
			}
		}
	}
}
