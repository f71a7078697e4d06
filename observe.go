package prepaid

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/internal/redact"
)

// Capture receives the last complete response of the calls made with its context: for fields that this version
// does not know, and for support cases. Safe for concurrent use; the zero value is ready.
type Capture struct{ last atomic.Pointer[Response] }

// Last returns the last response, or nil when there was none.
func (c *Capture) Last() *Response { return c.last.Load() }

// Response is one response as received, for [Capture]. It prints without header and body. The zero value is not used.
type Response struct {
	// Operation is the Go name of the call.
	Operation string
	// StatusCode is the HTTP status.
	StatusCode int
	// Header is the response's header; read only.
	Header http.Header `redact:"content"`
	// Body is the response's body; nil for streamed reports and for tokens.
	Body []byte `redact:"content"`
	// Attempts counts the requests of the call that may have left.
	Attempts int
	// Duration is the time of all attempts and waits.
	Duration time.Duration
}

// Format prints r without header and body.
func (r Response) Format(f fmt.State, verb rune) { redact.Format(f, verb, r) }

// LogValue logs r without header and body.
func (r Response) LogValue() slog.Value { return redact.LogValue(r) }

type captureKey struct{}

// WithCapture returns a context whose calls fill c. It changes nothing that is sent.
func WithCapture(ctx context.Context, c *Capture) context.Context {
	return context.WithValue(ctx, captureKey{}, c)
}

// captureOf returns the Capture of a context, or nil.
func captureOf(ctx context.Context) *Capture {
	seen, _ := ctx.Value(captureKey{}).(*Capture)
	return seen
}

// Trace observes calls. Nil fields are skipped; a panic in one is recovered and logged. The zero value observes
// nothing. New fields may be added.
type Trace struct {
	// CallStart is called before anything else of a call, its validation included; the context it returns, which must
	// be made of ctx, is the whole call's and reaches every later hook.
	CallStart func(ctx context.Context, op Operation) context.Context
	// Throttled is called when an attempt had to wait for the limiter.
	Throttled func(ctx context.Context, op Operation, waited time.Duration)
	// AttemptStart is called before a request leaves; the context it returns, which must be made of ctx, is the
	// request's.
	AttemptStart func(ctx context.Context, op Operation, attempt int) context.Context
	// AttemptDone is called after a request that left or tried to, with the context that AttemptStart returned.
	AttemptDone func(ctx context.Context, op Operation, a Attempt)
	// CallDone is called once per call, also when nothing was sent.
	CallDone func(ctx context.Context, op Operation, c CallSummary)
	// TokenRenewed is called after each token request of the built-in token manager. Only Config.Trace gets it.
	TokenRenewed func(ctx context.Context, took time.Duration, err error)

	joined []*Trace // instead of the fields
}

// JoinTraces makes one Trace of several, for [Config].Trace: their hooks are called in the given order, and a panic in
// one keeps no other from being called. Nil ones are left out. The result is for a [Client]; its own fields are nil.
func JoinTraces(traces ...*Trace) *Trace { return &Trace{joined: slices.Clone(traces)} }

// flat is t without joints, in order.
func (t *Trace) flat() []*Trace {
	if t == nil {
		return nil
	}
	if t.joined == nil {
		return []*Trace{t}
	}
	var all []*Trace
	for _, one := range t.joined {
		all = append(all, one.flat()...)
	}
	return all
}

// Attempt is one request of a call. The zero value is not used.
type Attempt struct {
	// Number counts from 1.
	Number int
	// StatusCode is the HTTP status; zero without a response.
	StatusCode int
	// Duration is the time from sending to the end of the body.
	Duration time.Duration
	// WillWait is the pause before the next attempt; zero when this was the last one.
	WillWait time.Duration
	// WillRetry reports that another attempt follows.
	WillRetry bool
	// Err is why the attempt failed; nil after a success.
	Err error
}

// CallSummary is a finished call. The zero value is not used.
type CallSummary struct {
	// Outcome is what is known about the effect.
	Outcome Outcome
	// Attempts counts the requests that may have left.
	Attempts int
	// Duration is the time of all attempts and waits.
	Duration time.Duration
	// Err is the call's error.
	Err error
}

type traceKey struct{}

// WithTrace adds t to the calls of a context, after Config.Trace. It changes nothing that is sent.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	if t == nil {
		return ctx
	}
	outer, _ := ctx.Value(traceKey{}).([]*Trace)
	return context.WithValue(ctx, traceKey{}, append(slices.Clip(outer), t.flat()...))
}

// observer reports to a caller's hooks and log.
type observer struct {
	log    *slog.Logger
	traces []*Trace
}

// of returns o with the traces of a context.
func (o observer) of(ctx context.Context) observer {
	if added, _ := ctx.Value(traceKey{}).([]*Trace); len(added) > 0 {
		o.traces = append(slices.Clip(o.traces), added...)
	}
	return o
}

// hooked reports whether there is any Trace.
func (o observer) hooked() bool { return len(o.traces) > 0 }

// guarded runs a caller's hook; its panic must not reach a payment.
func (o observer) guarded(hook func()) {
	defer func() {
		if recover() != nil {
			o.log.Error("prepaid: a trace hook panicked")
		}
	}()
	hook()
}

func (o observer) callStart(ctx context.Context, op Operation) context.Context {
	for _, t := range o.traces {
		if t.CallStart == nil {
			continue
		}
		o.guarded(func() {
			if inner := t.CallStart(ctx, op); inner != nil {
				ctx = inner
			}
		})
	}
	return ctx
}

// leastThrottled is a wait for the limiter that is worth reporting.
const leastThrottled = time.Millisecond

func (o observer) throttled(ctx context.Context, op Operation, waited time.Duration) {
	for _, t := range o.traces {
		if t.Throttled != nil {
			o.guarded(func() { t.Throttled(ctx, op, waited) })
		}
	}
}

// wantsStarts reports whether any Trace has AttemptStart set.
func (o observer) wantsStarts() bool {
	return slices.ContainsFunc(o.traces, func(t *Trace) bool { return t.AttemptStart != nil })
}

func (o observer) attemptStart(ctx context.Context, op Operation, number int) context.Context {
	for _, t := range o.traces {
		if t.AttemptStart == nil {
			continue
		}
		o.guarded(func() {
			if inner := t.AttemptStart(ctx, op, number); inner != nil {
				ctx = inner
			}
		})
	}
	return ctx
}

// wantsAttempts reports whether an attempt is reported to anybody: to each Trace, and in the log if another one follows.
func (o observer) wantsAttempts(ctx context.Context, again bool) bool {
	return o.hooked() || again && o.log.Enabled(ctx, slog.LevelWarn)
}

// attemptDone reports with report, which knows the context that AttemptStart returned, if that is not nil.
func (o observer) attemptDone(ctx context.Context, op Operation, seen Attempt, report func(*Trace, Attempt)) {
	if seen.WillRetry {
		o.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: attempt failed",
			slog.String("operation", op.Name), slog.String("path", op.Path), slog.Int("attempt", seen.Number),
			slog.Int("status", seen.StatusCode), slog.Duration("wait", seen.WillWait), slog.String("error", seen.Err.Error()))
	}
	for _, t := range o.traces {
		switch {
		case t.AttemptDone == nil:
		case report != nil:
			o.guarded(func() { report(t, seen) })
		default:
			o.guarded(func() { t.AttemptDone(ctx, op, seen) })
		}
	}
}

// callDone reports a call that began then, with the number of requests that may have left and the last status, if any.
func (o observer) callDone(ctx context.Context, op Operation, began time.Time, attempts, status int, err error) {
	level := slog.LevelDebug
	outcome := OutcomeOf(err)
	switch {
	case err != nil && outcome == OutcomeUnknown:
		level = slog.LevelError
	case err != nil:
		level = slog.LevelInfo
	}
	logs := o.log.Enabled(ctx, level)
	if !logs && !o.hooked() {
		return
	}
	duration := time.Since(began)
	if logs {
		attrs := []slog.Attr{
			slog.String("operation", op.Name), slog.String("path", op.Path),
			slog.String("outcome", outcome.String()), slog.Int("attempts", attempts), slog.Duration("duration", duration),
		}
		if status != 0 {
			attrs = append(attrs, slog.Int("status", status))
		}
		if err != nil {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		o.log.LogAttrs(ctx, level, "prepaid: call", attrs...)
	}
	for _, t := range o.traces {
		if t.CallDone != nil {
			o.guarded(func() {
				t.CallDone(ctx, op, CallSummary{Outcome: outcome, Attempts: attempts, Duration: duration, Err: err})
			})
		}
	}
}

func (o observer) tokenRenewed(ctx context.Context, took time.Duration, err error) {
	for _, t := range o.traces {
		if t.TokenRenewed != nil {
			o.guarded(func() { t.TokenRenewed(ctx, took, err) })
		}
	}
}
