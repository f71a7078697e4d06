package faults

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net/http"
	"net/http/httputil"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

// twoPaths is a RoundTripper that tries a second way when the first one failed.
type twoPaths struct {
	first, second http.RoundTripper
	join          bool
}

func (t twoPaths) RoundTrip(req *http.Request) (*http.Response, error) {
	body := bodyOf(req)
	response, err := t.first.RoundTrip(req)
	if err == nil {
		return response, nil
	}
	again := req.Clone(req.Context())
	again.Body = body()
	response, failed := t.second.RoundTrip(again)
	if failed != nil && t.join {
		failed = errors.Join(err, failed)
	}
	return response, failed
}

// bodyOf reads the body of a request, for one that is sent like it.
func bodyOf(req *http.Request) func() io.ReadCloser {
	content, _ := io.ReadAll(req.Body)
	req.Body = io.NopCloser(bytes.NewReader(content))
	return func() io.ReadCloser { return io.NopCloser(bytes.NewReader(content)) }
}

// to sends by base to another address, with or without the request's hooks.
func to(base http.RoundTripper, address string, traced bool) http.RoundTripper {
	return harness.RoundTripFunc(func(req *http.Request) (*http.Response, error) {
		ctx := req.Context()
		if !traced {
			ctx = context.Background()
		}
		out := req.Clone(ctx)
		out.URL.Scheme, out.URL.Host, _ = strings.Cut(address, "://")
		return base.RoundTrip(out)
	})
}

// Of a transport with two ways nothing is believed but its word: the hooks of the one say nothing of the other, and
// neither does a failed dial. A movement that one of them has written is not sent again.
func TestTransportOfTwoPaths(t *testing.T) {
	t.Parallel()
	const written, closed = true, false
	type path struct{ written, traced, sure bool } // sure: it says whether it sent
	for name, tc := range map[string]struct {
		first, second path
		join          bool
		outcome       prepaid.Outcome
		writes        int
	}{
		"written untraced, then a traced dial": {path{written, false, false}, path{closed, true, false}, false, prepaid.OutcomeUnknown, 1},
		"the same, joined":                     {path{written, false, false}, path{closed, true, false}, true, prepaid.OutcomeUnknown, 1},
		"a traced dial, then written untraced": {path{closed, true, false}, path{written, false, false}, false, prepaid.OutcomeUnknown, 1},
		"the same, joined, the other way":      {path{closed, true, false}, path{written, false, false}, true, prepaid.OutcomeUnknown, 1},
		"both written":                         {path{written, true, false}, path{written, true, false}, false, prepaid.OutcomeUnknown, 1},
		"two dials that say nothing":           {path{closed, true, false}, path{closed, true, false}, true, prepaid.OutcomeUnknown, 0},
		"two dials that say so":                {path{closed, true, true}, path{closed, false, true}, true, prepaid.OutcomeNotProcessed, 0},
		"written, then a dial that says so":    {path{written, false, true}, path{closed, true, true}, true, prepaid.OutcomeUnknown, 1},
	} {
		for _, op := range []harness.Op{harness.OpRedeem(), harness.OpCreate(), harness.OpActivate(), harness.OpTransfer()} {
			t.Run(name+"/"+op.Name, func(t *testing.T) {
				t.Parallel()
				server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Reset() })
				plain := &http.Transport{}
				t.Cleanup(plain.CloseIdleConnections)
				config := harness.Config("https://cards.example")
				of := func(p path) http.RoundTripper {
					base, address := http.RoundTripper(plain), closedAddress
					if p.sure {
						base = transport.Wrappable(plain)
					}
					if p.written {
						address = server.Address
					}
					return to(base, address, p.traced)
				}
				config.Retry.MaxAttempts = 1
				config.Transport = twoPaths{of(tc.first), of(tc.second), tc.join}
				failure := harness.CallError(t, op.Call(t.Context(), harness.NewClient(t, config)))
				require.Equal(t, tc.outcome, failure.Outcome, "%v", failure)
				require.Len(t, server.Seen(), tc.writes)
				cause := harness.As[*prepaid.TransportError](t, failure)
				require.Equal(t, tc.outcome == prepaid.OutcomeUnknown, cause.Sent)
				require.Equal(t, tc.outcome == prepaid.OutcomeUnknown, failure.Attempts == 1)
			})
		}
	}
}

// After a failed dial, a wrapper of Wrappable keeps the proof that nothing was sent; other wrappers lose it.
func TestWrappableKeepsCertainty(t *testing.T) {
	t.Parallel()
	for _, op := range harness.Ops() {
		plain := transport.New()
		for name, tc := range map[string]struct {
			under   http.RoundTripper
			tries   int32
			outcome prepaid.Outcome
		}{
			"bare":      {plain, 1, prepaid.OutcomeUnknown},
			"wrappable": {transport.Wrappable(plain), 3, prepaid.OutcomeNotProcessed},
		} {
			if name == "bare" && (op.Name == harness.OpGet().Name || op.Name == harness.OpTransfer().Name || op.Name == harness.OpPlastic().Name) {
				continue // are repeated anyway
			}
			var tries atomic.Int32
			config := harness.Config(closedAddress)
			config.Transport = harness.RoundTripFunc(func(req *http.Request) (*http.Response, error) {
				tries.Add(1)
				return tc.under.RoundTrip(req.WithContext(context.WithValue(req.Context(), spanKey{}, "span")))
			})
			err := op.Call(t.Context(), harness.NewClient(t, config))
			failure := harness.CallError(t, err)
			require.Equal(t, tc.outcome, failure.Outcome, "%s %s: %v", name, op.Name, err)
			require.Equal(t, tc.tries, tries.Load())
			require.ErrorIs(t, err, syscall.ECONNREFUSED)
			require.Equal(t, tc.outcome == prepaid.OutcomeUnknown, failure.Attempts > 0)
		}
	}
}

type spanKey struct{}

// A wrapper closes the kept connections of its transport; a nil transport means the client's own.
func TestWrappableClosesIdleConnections(t *testing.T) {
	t.Parallel()
	server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(harness.OpGet()) })
	under, byDefault := transport.Wrappable(transport.New()), transport.Wrappable(nil)
	for _, base := range []http.RoundTripper{under, byDefault, (*http.Transport)(nil)} {
		config := harness.Config(server.Address)
		config.Transport = base
		client := harness.NewClient(t, config)
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.Equal(t, 1, server.Left())
		require.NoError(t, client.Close())
		if wrappable, ok := base.(interface{ CloseIdleConnections() }); ok && (base == under || base == byDefault) {
			wrappable.CloseIdleConnections()
		}
		server.AwaitNoneLeft()
	}
}

// dumping is how traffic is often looked at. Its DumpRequestOut takes a connection of its own, to itself, and reports it to the
// hooks of the request's context, which is the attempt's.
func dumping(next http.RoundTripper, of func(*http.Request) context.Context, dumps *[]string) http.RoundTripper {
	return harness.RoundTripFunc(func(req *http.Request) (*http.Response, error) {
		shown := req.Clone(of(req))
		if req.GetBody != nil {
			shown.Body, _ = req.GetBody()
		}
		dump, err := httputil.DumpRequestOut(shown, req.GetBody != nil)
		if err != nil {
			return nil, err
		}
		*dumps = append(*dumps, string(dump))
		return next.RoundTrip(req)
	})
}

// If a RoundTripper takes a second connection, the error says so: the service is not the cause. The outcome is as for any
// broken exchange.
func TestDumpRequestOutIsNamed(t *testing.T) {
	t.Parallel()
	for _, op := range []harness.Op{harness.OpGet(), harness.OpTransfer()} {
		server := harness.NewServer(t, func(_ int, p *harness.Peer) { p.Succeed(op) })
		for _, next := range []http.RoundTripper{transport.New(), transport.Wrappable(nil)} {
			var dumps []string
			config := harness.Config(server.Address)
			config.Retry.MaxAttempts = 1
			config.Transport = dumping(next, (*http.Request).Context, &dumps)
			before := len(server.Seen())
			failure := harness.CallError(t, op.Call(t.Context(), harness.NewClient(t, config)))
			require.ErrorContains(t, failure, "the transport took a second connection for one attempt, see Config.Transport")
			require.NotContains(t, failure.Error(), "without a response")
			require.NotEmpty(t, dumps)
			require.Len(t, server.Seen(), before, "nothing of it reached the service")
			if op.RequestID != "" {
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
			}

			config.Transport = dumping(next, func(*http.Request) context.Context { return context.Background() }, &dumps)
			require.NoError(t, op.Call(t.Context(), harness.NewClient(t, config)), "as Config.Transport says")
			require.Len(t, server.Seen(), before+1)
			next.(interface{ CloseIdleConnections() }).CloseIdleConnections()
		}
	}
}

// If the service closed a kept connection, the error does not blame the RoundTripper.
func TestRepeatUnderAWrapperIsNotBlamedOnIt(t *testing.T) {
	t.Parallel()
	server := harness.NewServer(t, func(n int, p *harness.Peer) {
		if n > 1 {
			p.Reset()
			return
		}
		p.Succeed(harness.OpGet())
	})
	base := transport.New()
	t.Cleanup(base.CloseIdleConnections)
	config := harness.Config(server.Address)
	config.Retry.MaxAttempts = 1
	config.Transport = harness.RoundTripFunc(base.RoundTrip)
	var errs []error
	config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
		if a.Err != nil {
			errs = append(errs, a.Err)
		}
	}}
	client := harness.NewClient(t, config)
	require.NoError(t, harness.OpGet().Call(t.Context(), client))
	require.Error(t, harness.OpGet().Call(t.Context(), client))
	require.Equal(t, "prepaid: no complete response (headers): the connection ended without a response", errs[0].Error())
}
