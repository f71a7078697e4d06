package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// A response prints without header and body.
func TestCapturedResponseIsRedacted(t *testing.T) {
	t.Parallel()
	var seen harness.Capture
	require.NoError(t, harness.OpGet().Call(seen.In(t.Context()), harness.NewClient(t, scripted(harness.NewScript(harness.Respond(200, harness.VendorJSON, harness.AccountJSON, "X-Secret: CANARY"))))))
	var log strings.Builder
	slog.New(slog.NewJSONHandler(&log, nil)).Info("seen", "response", *seen.Last())
	for _, text := range []string{fmt.Sprintf("%v %+v %#v %s", *seen.Last(), *seen.Last(), *seen.Last(), seen.Last()), log.String()} {
		require.NotContains(t, text, "CANARY")
		require.NotContains(t, text, "**4444") // not the digits alone, which a time may have
		require.Contains(t, text, "200")
		require.Contains(t, text, "[REDACTED]")
	}
}

// journal notes the events of a trace, under a name.
type journal struct {
	mu    sync.Mutex
	lines []string
}

func (j *journal) note(format string, args ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, args...))
}

type traceMark struct{}

func (j *journal) trace(name string) *prepaid.Trace {
	return &prepaid.Trace{
		Throttled: func(_ context.Context, op prepaid.Operation, waited time.Duration) {
			j.note("%s throttled %s %s", name, op.Name, waited)
		},
		AttemptStart: func(ctx context.Context, op prepaid.Operation, attempt int) context.Context {
			j.note("%s start %s %s %s %d", name, op.Name, op.Method, op.Path, attempt)
			marks, _ := ctx.Value(traceMark{}).(string)
			return context.WithValue(ctx, traceMark{}, marks+name)
		},
		AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
			j.note("%s done %d status %d took %s again %t in %s: %v", name, a.Number, a.StatusCode, a.Duration, a.WillRetry, a.WillWait, a.Err)
		},
		CallDone: func(_ context.Context, op prepaid.Operation, c prepaid.CallSummary) {
			j.note("%s call %s %s %d attempts %s: %v", name, op.Name, c.Outcome, c.Attempts, c.Duration, c.Err)
		},
		TokenRenewed: func(_ context.Context, took time.Duration, err error) { j.note("%s token %s: %v", name, took, err) },
	}
}

// Config.Trace comes first, then the context's traces from the outside in; the request has the context that the hooks
// returned, and each attempt is reported once.
func TestTraceOrder(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		var marks []string
		marked := func(next harness.Step) harness.Step {
			return func(r *http.Request) (*http.Response, error) {
				mark, _ := r.Context().Value(traceMark{}).(string)
				marks = append(marks, mark)
				return next(r)
			}
		}
		service := harness.Split{
			Tokens: harness.NewScript(harness.After(time.Second, harness.Grant(1, "3600"))),
			Calls: harness.NewScript(
				marked(harness.After(time.Second, harness.Respond(503, "", "", "Retry-After: 3"))),
				marked(harness.After(2*time.Second, harness.Succeed(harness.OpTransfer()))),
			),
		}
		config := harness.CredentialsConfig(service)
		config.Trace = j.trace("A")
		config.AttemptTimeout, config.Retry.InFlightWait = 3*time.Second, time.Millisecond // less than Retry-After asks for
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			time.Sleep(5 * time.Millisecond)
			return nil
		})
		client := harness.NewClient(t, config)
		ctx := prepaid.WithTrace(prepaid.WithTrace(t.Context(), j.trace("B")), j.trace("C"))
		require.NoError(t, harness.OpTransfer().Call(ctx, client))
		synctest.Wait()
		const transfer = "Accounts.Transfer POST /accounts/{id}/transfer"
		token := []string{
			"A throttled Token 5ms", "A start Token POST /token 1", "A done 1 status 200 took 1s again false in 0s: <nil>",
			"A call Token applied 1 attempts 1.005s: <nil>", "A token 1.005s: <nil>",
		}
		j.mu.Lock()
		defer j.mu.Unlock()
		for _, line := range token { // the renewal runs alongside the call; only its own order is fixed
			require.Contains(t, j.lines, line)
		}
		var lines []string
		others := regexp.MustCompile("oken|Accounts.Summary|done 1 status (200|0 )") // tokens, and reads before the repeat
		for _, line := range j.lines {
			if !others.MatchString(line) {
				lines = append(lines, line)
			}
		}
		var want []string
		each := func(format string) {
			for _, name := range []string{"A", "B", "C"} {
				want = append(want, name+" "+format)
			}
		}
		each("throttled Accounts.Transfer 5ms")
		each("start " + transfer + " 1")
		each("done 1 status 503 took 1s again true in 3s: prepaid: status 503")
		each("throttled Accounts.Transfer 5ms")
		each("start " + transfer + " 2")
		each("done 2 status 200 took 2s again false in 0s: <nil>")
		each("call Accounts.Transfer applied 2 attempts 7.015s: <nil>")
		require.Equal(t, want, lines)
		require.Equal(t, []string{"ABC", "ABC"}, marks)
	})
}

// Hooks that panic or return no context do not affect the call; the panic is logged without its value.
func TestTracePanics(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var records recordingHandler
		var j journal
		config := harness.Config("https://cards.example")
		config.Logger = records.logger()
		config.Transport = harness.NewScript(harness.ServiceError(429, "slow"), harness.Succeed(harness.OpTransfer()))
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			time.Sleep(2 * time.Millisecond)
			return nil
		})
		config.Trace = &prepaid.Trace{
			Throttled:    func(context.Context, prepaid.Operation, time.Duration) { panic("CANARY") },
			AttemptStart: func(context.Context, prepaid.Operation, int) context.Context { panic("CANARY") },
			AttemptDone:  func(context.Context, prepaid.Operation, prepaid.Attempt) { panic("CANARY") },
			CallDone:     func(context.Context, prepaid.Operation, prepaid.CallSummary) { panic("CANARY") },
		}
		ctx := prepaid.WithTrace(t.Context(), &prepaid.Trace{
			AttemptStart: func(context.Context, prepaid.Operation, int) context.Context { return nil }, //nolint:nilnil // the fault
		})
		ctx = prepaid.WithTrace(ctx, j.trace("B"))
		require.NoError(t, harness.OpTransfer().Call(ctx, harness.NewClient(t, config)))
		require.Len(t, j.lines, 7, "the others are called anyway")
		text := records.text()
		require.Equal(t, 7, strings.Count(text, "a trace hook panicked"))
		require.NotContains(t, text, "CANARY")
	})
}

// Each second of a wait for the limiter or a repeat is reported while it lasts, and no longer.
func TestTraceWaiting(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var seen []time.Duration // no hook runs after its wait
		trace := &prepaid.Trace{Waiting: func(_ context.Context, op prepaid.Operation, waited time.Duration) {
			require.Equal(t, harness.OpGet().Name, op.Name)
			seen = append(seen, waited)
			panic("of the hook")
		}}
		for _, wait := range []time.Duration{0, 900 * time.Millisecond, 2500 * time.Millisecond} {
			config := harness.ClockConfig(harness.NewScript(harness.Succeed(harness.OpGet())))
			config.Limiter = harness.LimiterFunc(func(context.Context) error {
				time.Sleep(wait)
				return nil
			})
			require.NoError(t, harness.OpGet().Call(prepaid.WithTrace(t.Context(), trace), harness.NewClient(t, config)))
			time.Sleep(time.Minute)
		}
		require.Equal(t, []time.Duration{time.Second, 2 * time.Second}, seen)
		names := map[string]int{}
		ctx := prepaid.WithTrace(t.Context(), &prepaid.Trace{Waiting: func(_ context.Context, op prepaid.Operation, _ time.Duration) { names[op.Name]++ }})
		client := harness.NewClient(t, harness.ClockConfig(harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))))
		require.NoError(t, harness.OpTransfer().Call(ctx, client))
		require.NoError(t, client.Accounts.AwaitRepeat(ctx, "acc-1", time.Now()))
		require.Greater(t, names["Accounts.AwaitRepeat"], 70, "in the call, and alone")
		require.Len(t, names, 1)
	})
}

// A log that panics does not affect the call.
func TestLogPanics(t *testing.T) {
	t.Parallel()
	for _, level := range []slog.Level{-100, 100} { // in Handle, or in Enabled
		synctest.Test(t, func(t *testing.T) {
			config := harness.Config("https://cards.example")
			config.Logger = slog.New(panickingLog(level))
			config.Transport = harness.NewScript(harness.ServiceError(429, "slow"), harness.Succeed(harness.OpTransfer()))
			config.Trace = &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { panic("CANARY") }}
			require.NoError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
		})
	}
}

// panickingLog panics in Handle, and in Enabled for levels below.
type panickingLog slog.Level

func (l panickingLog) Enabled(_ context.Context, level slog.Level) bool {
	if level < slog.Level(l) {
		panic("CANARY")
	}
	return true
}
func (panickingLog) Handle(context.Context, slog.Record) error { panic("CANARY") }
func (l panickingLog) WithAttrs([]slog.Attr) slog.Handler      { return l }
func (l panickingLog) WithGroup(string) slog.Handler           { return l }

// Every later hook of a call gets the context of CallStart, whether or not something is sent.
func TestCallStart(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var j journal
		marked := func(ctx context.Context) string {
			mark, _ := ctx.Value(traceMark{}).(string)
			return mark
		}
		config := scripted(harness.NewScript(harness.ServiceError(503, ""), harness.Succeed(harness.OpTransfer())))
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
		read := []string{"start Accounts.Summary in call", "attempt 1 in call", "done 1 in call", "applied in call"} // before the repeat
		require.Equal(t, slices.Concat(
			[]string{"start Accounts.Transfer", "attempt 1 in call", "done 1 in call"}, read, read,
			[]string{"attempt 2 in call", "done 2 in call", "applied in call"},
		), j.lines)

		j.lines = nil
		_, err := client.Accounts.Get(t.Context(), "..")
		require.Error(t, err)
		require.Equal(t, []string{"start Accounts.Get", "rejected in call"}, j.lines)
	})
}

// A CallStart or Propagate hook that panics or returns nil does not affect the call.
func TestHooksThatFail(t *testing.T) {
	t.Parallel()
	type start = func(context.Context, prepaid.Operation) context.Context
	for name, set := range map[string]func(*prepaid.Config, start){
		"CallStart": func(c *prepaid.Config, hook start) { c.Trace = &prepaid.Trace{CallStart: hook} },
		"Propagate": func(c *prepaid.Config, hook start) {
			c.Propagate = func(ctx context.Context) http.Header { hook(ctx, prepaid.Operation{}); return nil }
		},
	} {
		for _, hook := range []start{
			func(context.Context, prepaid.Operation) context.Context { panic("CANARY") },
			func(context.Context, prepaid.Operation) context.Context { return nil }, //nolint:nilnil // the fault
		} {
			config := scripted(harness.NewScript(harness.Succeed(harness.OpTransfer())))
			set(&config, hook)
			require.NoError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)), name)
		}
	}
}

// Joined traces are called in order, however nested; a panic in one does not stop the others.
func TestTraceJoin(t *testing.T) {
	t.Parallel()
	var j journal
	called := func(name string) *prepaid.Trace {
		return &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { j.note("%s", name) }}
	}
	broken := &prepaid.Trace{CallDone: func(context.Context, prepaid.Operation, prepaid.CallSummary) { panic("CANARY") }}
	inner := called("B").Join(nil, broken, called("C"))
	config := scripted(harness.NewScript(harness.Succeed(harness.OpGet())))
	config.Trace = called("A").Join(inner, (*prepaid.Trace)(nil).Join(), called("D"))
	ctx := prepaid.WithTrace(t.Context(), called("E").Join(called("F")))
	require.NoError(t, harness.OpGet().Call(ctx, harness.NewClient(t, config)))
	require.Equal(t, []string{"A", "B", "C", "D", "E", "F"}, j.lines)
}

// A movement that is withheld because of its request id is still a call: its outcome is unknown, and observers see it.
func TestTraceOfWhatWasWithheld(t *testing.T) {
	t.Parallel()
	var j journal
	config := scripted(harness.NewScript())
	config.Trace = &prepaid.Trace{
		CallStart: func(ctx context.Context, op prepaid.Operation) context.Context {
			j.note("start %s", op.Name)
			return ctx
		},
		CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) { j.note("%s", c.Outcome) },
	}
	_, err := harness.NewClient(t, config).Accounts.Transfer(t.Context(), "acc-1", prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now().AddDate(0, 0, -30)), "payroll"), Amount: prepaid.MustAmount("1"),
		SourceReference: "out", DestinationReference: "in", DestinationAccountID: "acc-2",
	})
	require.ErrorIs(t, err, prepaid.ErrRequestIDExpired)
	require.Equal(t, []string{"start Accounts.Transfer", "unknown"}, j.lines)
}

// The error of an attempt that took too long has a Timeout method, as with net/http.
func TestAttemptTimeoutSaysSo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
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
	})
}
