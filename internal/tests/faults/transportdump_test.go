package faults

import (
	"context"
	"net/http"
	"net/http/httputil"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/transport"
)

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
