package faults

import (
	"context"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/transport"
)

// slotCount is a limiter that counts the slots which were used up.
type slotCount struct{ used atomic.Int64 }

func (l *slotCount) Acquire(context.Context, ratelimit.Lane) (ratelimit.Slot, error) { return l, nil }

func (l *slotCount) Release(f ratelimit.Feedback) {
	if !f.NotSent {
		l.used.Add(1)
	}
}

// attemptCount counts the attempts that the calls report.
type attemptCount struct{ attempts, failed atomic.Int64 }

func (c *attemptCount) trace() *prepaid.Trace {
	return &prepaid.Trace{CallDone: func(_ context.Context, _ prepaid.Operation, s prepaid.CallSummary) {
		c.attempts.Add(int64(s.Attempts))
		if s.Err != nil {
			c.failed.Add(1)
		}
	}}
}

// A service that closes its kept connections in the middle of an exchange: each request that it reads is an attempt
// that was reported and took a slot, for all of the calls, and every call succeeds.
func TestNothingIsRepeatedBelowTheAttempts(t *testing.T) {
	t.Parallel()
	const workers, each = 8, 20
	for name, last := range map[string]func(p *harness.Peer, op harness.Op){
		"closed after reading": func(p *harness.Peer, _ harness.Op) { _ = p.Close() },
		"reset after reading":  func(p *harness.Peer, _ harness.Op) { p.Reset() },
		"closed after responding": func(p *harness.Peer, op harness.Op) {
			p.Succeed(op)
			_ = p.Close()
		},
	} {
		for _, op := range []harness.Op{harness.OpGet(), harness.OpPlastic()} {
			for _, wrapped := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/wrapped %t", op.Name, name, wrapped), func(t *testing.T) {
					t.Parallel()
					server := harness.NewServer(t, func(n int, p *harness.Peer) {
						if n%7 == 0 || p.Turn%3 == 0 {
							last(p, op)
							return
						}
						p.Succeed(op)
					})
					var slots slotCount
					var count attemptCount
					config := harness.Config(server.Address)
					config.Limiter, config.Trace, config.Retry.MaxAttempts = &slots, count.trace(), 20
					if wrapped {
						base := transport.New()
						t.Cleanup(base.CloseIdleConnections)
						config.Transport = harness.RoundTripFunc(transport.Wrappable(base).RoundTrip)
					}
					client := harness.NewClient(t, config)
					var calls sync.WaitGroup
					for range workers {
						calls.Go(func() {
							for range each {
								require.NoError(t, op.Call(t.Context(), client))
							}
						})
					}
					calls.Wait()
					seen := int64(len(server.Seen()))
					require.Equal(t, slots.used.Load(), count.attempts.Load(), "a slot for each attempt")
					if name == "closed after responding" { // bytes written to a closed connection are never read
						require.GreaterOrEqual(t, count.attempts.Load(), seen)
						require.EqualValues(t, workers*each, seen)
						return
					}
					require.Equal(t, seen, count.attempts.Load(), "a reported attempt for each request")
					require.Greater(t, seen, int64(workers*each), "connections did break")
				})
			}
		}
	}
}

// MaxAttempts does not count the one repeat of a read whose kept connection was closed, and no pause stands before it.
func TestReadOnClosedConnectionNeedsNoRetry(t *testing.T) {
	t.Parallel()
	eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
		t.Helper()
		server := harness.NewServer(t, func(n int, p *harness.Peer) {
			if n == 2 {
				_ = p.Close()
				return
			}
			p.Succeed(harness.OpGet())
		})
		settings := config(server.Address)
		settings.Retry.MaxAttempts, settings.Retry.MinWait, settings.Retry.MaxWait = 1, 1<<40, 1<<40
		client := harness.NewClient(t, settings)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		var wire harness.Capture
		require.NoError(t, harness.OpGet().Call(wire.In(t.Context()), client))
		require.Equal(t, 2, wire.Attempts())
		require.Len(t, server.Seen(), 3)
	})
}

// An operation that is never repeated does not use a kept connection, which the service may be closing: no outcome is unknown
// of a request that the service did not read. Each request has its own connection.
func TestUnrepeatedCallsOpenTheirOwnConnection(t *testing.T) {
	t.Parallel()
	const calls = 60
	for _, op := range []harness.Op{harness.OpRedeem(), harness.OpCreate(), harness.OpActivate(), harness.OpStart()} {
		t.Run(op.Name, func(t *testing.T) {
			t.Parallel()
			eachTransport(t, func(t *testing.T, config func(string) prepaid.Config) {
				t.Helper()
				reads, pays := harness.OpGet(), harness.OpTransfer()
				server := harness.NewServer(t, func(_ int, p *harness.Peer) {
					for _, kept := range []harness.Op{reads, pays} {
						if p.Request.Target == kept.Path && p.Request.Method != http.MethodPut {
							p.Succeed(kept)
							return
						}
					}
					p.Succeed(op)
					_ = p.Close() // at once, as a service does that is going down
				})
				client := harness.NewClient(t, config(server.Address))
				for range calls {
					require.NoError(t, op.Call(t.Context(), client))
				}
				for _, kept := range []harness.Op{reads, reads, pays, pays} {
					require.NoError(t, kept.Call(t.Context(), client))
				}
				require.NoError(t, op.Call(t.Context(), client)) // not on either's connection, which are kept
				used := map[int]int{}
				for _, request := range server.Seen() {
					used[request.Connection]++
				}
				require.Len(t, used, calls+3)
			})
		})
	}
}

// A read that breaks after Close is not sent again, and a call that was under way then leaves no connection when it ends: a
// connection that net/http opens for a repeat must not make it keep others.
func TestNothingIsLeftAfterClose(t *testing.T) {
	t.Parallel()
	for _, endsFirst := range []string{"broken", "answered"} {
		t.Run(endsFirst+" first", func(t *testing.T) {
			t.Parallel()
			const calls = 6
			var round sync.WaitGroup
			release := map[bool]chan struct{}{true: make(chan struct{}), false: make(chan struct{})}
			server := harness.NewServer(t, func(n int, p *harness.Peer) {
				round.Done()
				if n <= calls { // connections to keep
					round.Wait()
					p.Succeed(harness.OpGet())
					return
				}
				breaks := n%2 == 0
				<-release[breaks]
				if breaks {
					_ = p.Close()
					return
				}
				p.Succeed(harness.OpGet())
			})
			client := harness.NewClient(t, harness.Config(server.Address))
			results := make(chan error, calls)
			start := func() {
				round.Add(calls)
				for range calls {
					go func() { results <- harness.OpGet().Call(t.Context(), client) }()
				}
				round.Wait()
			}
			start()
			for range calls {
				require.NoError(t, <-results)
			}
			start()
			require.NoError(t, client.Close())
			first := endsFirst == "broken"
			for _, breaks := range []bool{first, !first} {
				close(release[breaks])
				for range calls / 2 {
					if err := <-results; breaks {
						require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
					} else {
						require.NoError(t, err)
					}
				}
			}
			require.Len(t, server.Seen(), 2*calls, "nothing was sent again")
			server.AwaitNoneLeft()
		})
	}
}
