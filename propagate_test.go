package prepaid_test

import (
	"context"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Every attempt carries the trace context of its own context, and nothing else that the hook returns.
func TestPropagate(t *testing.T) {
	t.Parallel()
	var sent []http.Header
	seen := func(next harness.Step) harness.Step {
		return func(r *http.Request) (*http.Response, error) {
			sent = append(sent, r.Header.Clone())
			return next(r)
		}
	}
	config := scripted(harness.NewScript(seen(harness.Succeed(harness.OpTransfer())), seen(harness.Succeed(harness.OpTransfer()))))
	plain := harness.NewClient(t, config)
	require.NoError(t, harness.OpTransfer().Call(t.Context(), plain))
	want := sent[0].Clone()
	want.Set("Traceparent", "00-1-1-01")
	want["X-Many"] = []string{"a", "b"}

	config.Trace = &prepaid.Trace{AttemptStart: func(ctx context.Context, _ prepaid.Operation, _ int) context.Context {
		return context.WithValue(ctx, traceMark{}, "00-1-1-01")
	}}
	config.Propagate = func(ctx context.Context) http.Header {
		mark, _ := ctx.Value(traceMark{}).(string)
		return http.Header{
			"traceparent": {mark}, "X-Many": {"a", "b", "", "line\r\nbreak", "\xff"},
			"Authorization": {"x"}, "accept": {"x"}, "Accept-Encoding": {"x"}, "Content-Type": {"x"}, "Host": {"x"},
			"Idempotency-Key": {"x"}, "x-idempotency-key": {"x"}, "Cookie": {"x"}, "Connection": {"x"}, "Te": {"x"},
			"User-Agent": {"x"}, "X-HTTP-Method-Override": {"x"}, "not a name": {"x"}, "": {"x"},
		}
	}
	require.NoError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
	require.Equal(t, want, sent[1])
}
