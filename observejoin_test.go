package prepaid_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The context of CallStart is that of every later hook of the call, whether or not something is sent.
func TestCallStart(t *testing.T) {
	t.Parallel()
	var j journal
	marked := func(ctx context.Context) string {
		mark, _ := ctx.Value(traceMark{}).(string)
		return mark
	}
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript(harness.ServiceError(503, ""), harness.Succeed(harness.OpTransfer()))
	config.AttemptTimeout = 500 * time.Millisecond
	config.Trace = &prepaid.Trace{
		CallStart: func(ctx context.Context, op prepaid.Operation) context.Context {
			j.note("start %s%s", op.Name, marked(ctx))
			return context.WithValue(ctx, traceMark{}, " in call")
		},
		AttemptStart: func(ctx context.Context, _ prepaid.Operation, number int) context.Context {
			j.note("attempt %d%s", number, marked(ctx))
			return ctx
		},
		AttemptDone: func(ctx context.Context, _ prepaid.Operation, a prepaid.Attempt) {
			j.note("done %d%s", a.Number, marked(ctx))
		},
		CallDone: func(ctx context.Context, _ prepaid.Operation, c prepaid.CallSummary) {
			j.note("%s%s", c.Outcome, marked(ctx))
		},
	}
	client := harness.NewClient(t, config)
	require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
	require.Equal(t, []string{
		"start Accounts.Transfer", "attempt 1 in call", "done 1 in call", "attempt 2 in call", "done 2 in call", "applied in call",
	}, j.lines)

	j.lines = nil
	_, err := client.Accounts.Get(t.Context(), "..")
	require.Error(t, err)
	require.Equal(t, []string{"start Accounts.Get", "rejected in call"}, j.lines)
}

// A CallStart that panics or returns nothing leaves the context as it was.
func TestCallStartThatFails(t *testing.T) {
	t.Parallel()
	for name, hook := range map[string]func(context.Context, prepaid.Operation) context.Context{
		"panic": func(context.Context, prepaid.Operation) context.Context { panic("CANARY") },
		"nil":   func(context.Context, prepaid.Operation) context.Context { return nil }, //nolint:nilnil // the fault
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			config := harness.Config("https://cards.example")
			config.Transport = harness.NewScript(harness.Succeed(harness.OpGet()))
			config.Trace = &prepaid.Trace{CallStart: hook}
			require.NoError(t, harness.OpGet().Call(t.Context(), harness.NewClient(t, config)))
		})
	}
}

// Joined traces are told in order, however they are nested, and one that panics silences no other.
func TestJoinTraces(t *testing.T) {
	t.Parallel()
	var j journal
	called := func(name string) *prepaid.Trace {
		return &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { j.note("%s", name) }}
	}
	broken := &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { panic("CANARY") }}
	inner := prepaid.JoinTraces(called("B"), nil, broken, called("C"))
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript(harness.Succeed(harness.OpGet()))
	config.Trace = prepaid.JoinTraces(called("A"), inner, prepaid.JoinTraces(), called("D"))
	ctx := prepaid.WithTrace(t.Context(), prepaid.JoinTraces(called("E"), called("F")))
	require.NoError(t, harness.OpGet().Call(ctx, harness.NewClient(t, config)))
	require.Equal(t, []string{"A", "B", "C", "D", "E", "F"}, j.lines)
}

// A movement that is withheld because of its request id is a call all the same: its outcome is unknown, and observers
// hear of it.
func TestTraceOfWhatWasWithheld(t *testing.T) {
	t.Parallel()
	var j journal
	config := harness.Config("https://cards.example")
	config.Transport = harness.NewScript()
	config.Trace = &prepaid.Trace{
		CallStart: func(ctx context.Context, op prepaid.Operation) context.Context {
			j.note("start %s", op.Name)
			return ctx
		},
		CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) { j.note("%s", c.Outcome) },
	}
	_, err := harness.NewClient(t, config).Accounts.Transfer(t.Context(), "acc-1", prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(time.Now().AddDate(0, 0, -30), "payroll"), Amount: prepaid.MustAmount("1"),
		SourceReference: "out", DestinationReference: "in", DestinationAccountID: "acc-2",
	})
	require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
	require.Equal(t, []string{"start Accounts.Transfer", "outcome unknown"}, j.lines)
}

// A caller tells an attempt that took too long by the Timeout of its error, as with net/http.
func TestAttemptTimeoutSaysSo(t *testing.T) {
	t.Parallel()
	config := harness.Config("https://cards.example")
	config.AttemptTimeout = time.Millisecond
	config.Retry.MaxAttempts = 1
	config.Transport = harness.NewScript(func(r *http.Request) (*http.Response, error) {
		<-r.Context().Done()
		return nil, r.Context().Err()
	})
	err := harness.OpGet().Call(t.Context(), harness.NewClient(t, config))
	late, ok := errors.AsType[interface {
		error
		Timeout() bool
	}](err)
	require.True(t, ok && late.Timeout(), "%v", err)
	require.NotErrorIs(t, err, context.DeadlineExceeded, "the caller's own deadline has not passed")
}
