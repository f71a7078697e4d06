package prepaid

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"slices"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/internal/redact"
)

// Capture receives the last complete answer of the calls made with its context: for fields that this version
// does not know, and for support cases. Safe for concurrent use; the zero value is ready.
type Capture struct{ last atomic.Pointer[Response] }

// Last returns the last answer, or nil when there was none.
func (c *Capture) Last() *Response { return c.last.Load() }

// Response is one answer as received, for [Capture]. It prints without header and body. The zero value is not used.
type Response struct {
	// Operation is the Go name of the call.
	Operation string
	// StatusCode is the HTTP status.
	StatusCode int
	// Header is the answer's header; read only.
	Header http.Header `redact:"content"`
	// Body is the answer's body; nil for streamed reports and for tokens.
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

func (c *core) capture(ctx context.Context, k *call) {
	seen, ok := ctx.Value(captureKey{}).(*Capture)
	if !ok || seen == nil || k.last.status == 0 || k.op.class == classToken {
		return
	}
	seen.last.Store(&Response{
		Operation:  k.op.Name,
		StatusCode: k.last.status,
		Header:     k.last.header.Clone(),
		Body:       bytes.Clone(k.last.body),
		Attempts:   k.attempts,
		Duration:   time.Since(k.began),
	})
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
	// StatusCode is the HTTP status; zero without an answer.
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

func (c *core) tracesOf(ctx context.Context) []*Trace {
	added, _ := ctx.Value(traceKey{}).([]*Trace)
	if len(added) == 0 {
		return c.traces
	}
	return append(slices.Clip(c.traces), added...)
}

// guarded runs a caller's hook; its panic must not reach a payment.
func (c *core) guarded(hook func()) {
	defer func() {
		if recover() != nil {
			c.log.Error("prepaid: a trace hook panicked")
		}
	}()
	hook()
}

func (c *call) observeCall(ctx context.Context) context.Context {
	for _, t := range c.traces {
		if t.CallStart == nil {
			continue
		}
		c.core.guarded(func() {
			if inner := t.CallStart(ctx, c.op.Operation); inner != nil {
				ctx = inner
			}
		})
	}
	return ctx
}

// leastThrottled is a wait for the limiter that is worth telling.
const leastThrottled = time.Millisecond

func (c *call) observeThrottled(ctx context.Context, waited time.Duration) {
	for _, t := range c.traces {
		if t.Throttled != nil {
			c.core.guarded(func() { t.Throttled(ctx, c.op.Operation, waited) })
		}
	}
}

// startsObserved reports whether anybody wants to know of a start.
func (c *call) startsObserved() bool {
	return slices.ContainsFunc(c.traces, func(t *Trace) bool { return t.AttemptStart != nil })
}

func (c *call) observeStart(ctx context.Context, number int) context.Context {
	for _, t := range c.traces {
		if t.AttemptStart == nil {
			continue
		}
		c.core.guarded(func() {
			if inner := t.AttemptStart(ctx, c.op.Operation, number); inner != nil {
				ctx = inner
			}
		})
	}
	return ctx
}

func (c *call) observeAttempt(ctx context.Context, again bool) {
	a := c.last
	quietly := len(c.traces) == 0 && (!again || !c.core.log.Enabled(ctx, slog.LevelWarn))
	if quietly || c.gaveUp || a.started.IsZero() { // nothing was sent since the last report
		return
	}
	seen := Attempt{Number: a.number, StatusCode: a.status, WillRetry: again, Duration: time.Since(a.started)}
	if !a.succeeded(&c.op) {
		seen.Err = a.cause()
	}
	if again {
		seen.WillWait = c.wait
		c.core.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: attempt failed",
			slog.String("operation", c.op.Name), slog.String("path", c.op.Path), slog.Int("attempt", a.number),
			slog.Int("status", a.status), slog.Duration("wait", c.wait), slog.String("error", seen.Err.Error()))
	}
	for _, t := range c.traces {
		switch {
		case t.AttemptDone == nil:
		case a.report != nil:
			c.core.guarded(func() { a.report(t, seen) })
		default:
			c.core.guarded(func() { t.AttemptDone(ctx, c.op.Operation, seen) })
		}
	}
}

func (c *call) observeDone(ctx context.Context, err error) {
	level := slog.LevelDebug
	outcome := OutcomeOf(err)
	switch {
	case err != nil && outcome == OutcomeUnknown:
		level = slog.LevelError
	case err != nil:
		level = slog.LevelInfo
	}
	logs := c.core.log.Enabled(ctx, level)
	if !logs && len(c.traces) == 0 {
		return
	}
	duration := time.Since(c.began)
	if logs {
		attrs := []slog.Attr{
			slog.String("operation", c.op.Name), slog.String("path", c.op.Path),
			slog.String("outcome", outcome.String()), slog.Int("attempts", c.attempts), slog.Duration("duration", duration),
		}
		if c.last != nil && c.last.status != 0 {
			attrs = append(attrs, slog.Int("status", c.last.status))
		}
		if err != nil {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		c.core.log.LogAttrs(ctx, level, "prepaid: call", attrs...)
	}
	for _, t := range c.traces {
		if t.CallDone != nil {
			summary := CallSummary{Outcome: outcome, Attempts: c.attempts, Duration: duration, Err: err}
			c.core.guarded(func() { t.CallDone(ctx, c.op.Operation, summary) })
		}
	}
}
