package prepaid

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/redact"
)

// RawResponse is a response as received; see [Trace].Response.
type RawResponse struct {
	StatusCode int         // the HTTP status
	Header     http.Header `redact:"content"` // the response's header
	Body       []byte      `redact:"content"` // the response's body, byte for byte; nil for streamed reports
}

// Decode unmarshals Body, as JSON, into your own struct.
func (r *RawResponse) Decode(into any) error {
	received := &response{status: r.StatusCode, mediaType: exchange.MediaType(r.Header), body: r.Body}
	return unmarshal(received, into)
}

// copied returns a copy for the caller, since the buffer of r is used again.
func (r *response) copied() *RawResponse {
	return &RawResponse{StatusCode: r.status, Header: r.received.Header.Clone(), Body: bytes.Clone(r.body)}
}

// Trace observes calls. Hooks may be nil. Panics are recovered and logged.
type Trace struct {
	// CallStart is called before validation. The call and all later hooks use the returned context, which must be derived from ctx.
	CallStart func(ctx context.Context, op Operation) context.Context
	// Throttled is called if an attempt had to wait for the limiter.
	Throttled func(ctx context.Context, op Operation, waited time.Duration)
	// Waiting is called each second while an attempt waits for the limiter (up to 10 s after 1,000 requests) or a payment of unknown outcome
	// for its repeat (40 s or more; op.Name is then "Accounts.AwaitRepeat"), so that a progress display does not look hung. It
	// does not report the pause that AttemptDone announces as WillWait. Other goroutines call it, concurrently for concurrent calls. It must
	// not block: the call waits for it.
	Waiting func(ctx context.Context, op Operation, waited time.Duration)
	// AttemptStart is called before a request is sent. The request uses the returned context, which must be derived from ctx.
	AttemptStart func(ctx context.Context, op Operation, attempt int) context.Context
	// AttemptDone is called after a request was sent or could not be sent, with the context that AttemptStart returned.
	AttemptDone func(ctx context.Context, op Operation, a Attempt)
	// Response gets a copy of the complete response to the last attempt of a call, for fields that this version does not know and for support.
	// Token requests and the client's own reads are not shown. The body of an error ends after 64 KiB. Concurrent calls call it concurrently.
	Response func(ctx context.Context, op Operation, r RawResponse)
	// CallDone is called once per call, even if nothing was sent.
	CallDone func(ctx context.Context, op Operation, c CallSummary)
	// TokenRenewed is called after each token request of the built-in token manager, in Config.Trace only.
	TokenRenewed func(ctx context.Context, took time.Duration, err error)

	joined []*Trace // instead of the fields
}

// Join returns a trace that calls the hooks of t and others, even if one panics. Nil is ignored. Only a [Client] calls the result: its
// fields are nil.
func (t *Trace) Join(others ...*Trace) *Trace { return &Trace{joined: append([]*Trace{t}, others...)} }

// flat returns t or, recursively, the traces joined in it, in order.
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

// Attempt is one request of a call.
type Attempt struct {
	Number     int           // the attempt's number, from 1
	StatusCode int           // the HTTP status; zero without a response
	Duration   time.Duration // the time from sending to the end of the body
	WillWait   time.Duration // the pause before the next attempt; zero if this is the last one
	WillRetry  bool          // whether another attempt follows
	Err        error         // why the attempt failed; nil after a success
}

// CallSummary is a finished call.
type CallSummary struct {
	Outcome  Outcome       // the known effect
	Attempts int           // the number of requests that may have been sent
	Duration time.Duration // the time of all attempts and waits
	Err      error         // the call's error
	// RequestID is that of a transfer or direct entry out, to clear an alert when a later call succeeds.
	RequestID RequestID
}

type traceKey struct{}

// WithTrace adds t to a context: t observes its calls too, after Config.Trace.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	outer, _ := ctx.Value(traceKey{}).([]*Trace)
	return context.WithValue(ctx, traceKey{}, append(slices.Clip(outer), t.flat()...))
}

// observer reports to the caller's traces and log.
type observer struct {
	log    *slog.Logger
	traces []*Trace // nil if there is none
	op     Operation

	requestID     RequestID // of a payment
	correlationID string    // of a funding call
	resolves      bool      // the call repeated a request of unknown outcome
}

// of returns o for a call, with the traces of its context added.
func (o observer) of(ctx context.Context, r *request) observer {
	o.op, o.requestID, o.correlationID = r.op.Operation, r.requestID, r.correlationID
	if added, _ := ctx.Value(traceKey{}).([]*Trace); len(added) > 0 {
		o.traces = append(slices.Clip(o.traces), added...)
	}
	return o
}

// guarded runs a caller's hook. A panic in it must not stop a payment.
func (o observer) guarded(hook func()) {
	defer func() {
		if recover() != nil {
			o.logged(func() { o.log.Error("prepaid: a trace hook panicked") })
		}
	}()
	hook()
}

// each calls the hook of each trace, guarded.
func (o observer) each(hook func(t *Trace)) {
	for _, t := range o.traces {
		o.guarded(func() { hook(t) })
	}
}

// logged runs write, which writes to the caller's log. If its handler panics, the record is lost.
func (o observer) logged(write func()) {
	defer func() { _ = recover() }()
	write()
}

func (o observer) callStart(ctx context.Context) context.Context {
	o.each(func(t *Trace) {
		if t.CallStart != nil {
			ctx = cmp.Or(t.CallStart(ctx, o.op), ctx)
		}
	})
	return ctx
}

// leastThrottled is the shortest wait for the limiter that is reported.
const leastThrottled = time.Millisecond

func (o observer) throttled(ctx context.Context, waited time.Duration) {
	o.each(func(t *Trace) {
		if t.Throttled != nil {
			t.Throttled(ctx, o.op, waited)
		}
	})
}

func (o observer) has(hook func(*Trace) bool) bool { return slices.ContainsFunc(o.traces, hook) }

// awaitRepeat is the name of the wait for a repeat.
const awaitRepeat = "Accounts.AwaitRepeat"

// waiting reports each second, until stop returns, that the call waits.
func (o observer) waiting(ctx context.Context) (stop func()) {
	if !o.has(func(t *Trace) bool { return t.Waiting != nil }) {
		return func() {}
	}
	var mu sync.Mutex // held while hooks run
	mu.Lock()
	defer mu.Unlock()
	began, over := time.Now(), false
	var second *time.Timer
	second = time.AfterFunc(time.Second, func() {
		mu.Lock()
		defer mu.Unlock()
		if over {
			return
		}
		o.each(func(t *Trace) {
			if t.Waiting != nil {
				t.Waiting(ctx, o.op, time.Since(began))
			}
		})
		second.Reset(time.Second)
	})
	return func() {
		mu.Lock()
		defer mu.Unlock()
		over = true
		second.Stop()
	}
}

// attemptStart returns the context of the attempt, or nil if no Trace has AttemptStart set.
func (o observer) attemptStart(ctx context.Context, number int) (started context.Context) {
	o.each(func(t *Trace) {
		if t.AttemptStart != nil {
			ctx = cmp.Or(t.AttemptStart(ctx, o.op, number), ctx)
			started = ctx
		}
	})
	return started
}

// attemptDone reports an attempt. report, if not nil, reports to a Trace with the context that AttemptStart returned.
func (o observer) attemptDone(ctx context.Context, seen Attempt, report func(*Trace, Attempt)) {
	if seen.WillRetry {
		o.logged(func() {
			o.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: attempt failed", append(idAttrs(o.requestID, o.correlationID),
				slog.String("operation", o.op.Name), slog.String("path", o.op.Path), slog.Int("attempt", seen.Number),
				slog.Int("status", seen.StatusCode), slog.Duration("wait", seen.WillWait), slog.String("error", seen.Err.Error()))...)
		})
	}
	o.each(func(t *Trace) {
		switch {
		case t.AttemptDone == nil:
		case report != nil:
			report(t, seen)
		default:
			t.AttemptDone(ctx, o.op, seen)
		}
	})
}

// callDone reports a call. began is its start; attempts counts the requests that may have been sent; status is the last HTTP status or 0.
func (o observer) callDone(ctx context.Context, began time.Time, attempts, status int, err error) {
	level := slog.LevelDebug
	outcome := OutcomeOf(err)
	switch {
	case err != nil && outcome == OutcomeUnknown:
		level = slog.LevelError
	case err == nil && o.resolves, err != nil && !errors.Is(err, ErrReportNotReady): // a poll expects it
		level = slog.LevelInfo
	}
	logs := false
	o.logged(func() { logs = o.log.Enabled(ctx, level) })
	if !logs && o.traces == nil {
		return
	}
	duration := time.Since(began)
	if logs {
		attrs := []slog.Attr{
			slog.String("operation", o.op.Name), slog.String("path", o.op.Path),
			slog.String("outcome", outcome.String()), slog.Int("attempts", attempts), slog.Duration("duration", duration),
		}
		if status != 0 {
			attrs = append(attrs, slog.Int("status", status))
		}
		if failure, ok := errors.AsType[*CallError](err); ok {
			attrs = append(attrs, failure.ids()...)
		} else {
			attrs = append(attrs, idAttrs(o.requestID, o.correlationID)...)
		}
		if err != nil && level != slog.LevelDebug {
			attrs = append(attrs, slog.String("error", err.Error()))
		}
		o.logged(func() { o.log.LogAttrs(ctx, level, "prepaid: call", attrs...) })
	}
	o.each(func(t *Trace) {
		if t.CallDone != nil {
			t.CallDone(ctx, o.op, CallSummary{Outcome: outcome, Attempts: attempts, Duration: duration, Err: err, RequestID: o.requestID})
		}
	})
}

func (o observer) response(ctx context.Context, a *attempt) {
	o.each(func(t *Trace) {
		if t.Response != nil {
			t.Response(ctx, o.op, *a.copied())
		}
	})
}

func (o observer) tokenRenewed(ctx context.Context, took time.Duration, err error) {
	o.each(func(t *Trace) {
		if t.TokenRenewed != nil {
			t.TokenRenewed(ctx, took, err)
		}
	})
}

// LogValue logs the text of Error and fields for support: operation, outcome, attempts, FirstSent, LastSent, request and correlation ID,
// status and code. It omits the account and, with a [ValidationError], both IDs. slog does not unwrap errors: of a wrapped CallError it logs
// the text, which has the IDs.
func (e *CallError) LogValue() slog.Value {
	attrs := []slog.Attr{
		slog.String("operation", e.Operation), slog.String("outcome", e.Outcome.String()), slog.Int("attempts", e.Attempts),
	}
	attrs = append(attrs, e.ids()...)
	if !e.FirstSent.IsZero() {
		attrs = append(attrs, slog.Time("first_sent", e.FirstSent))
	}
	if !e.LastSent.IsZero() {
		attrs = append(attrs, slog.Time("last_sent", e.LastSent))
	}
	if cause, ok := errors.AsType[*APIError](e.Err); ok {
		attrs = append(attrs, cause.attrs()...)
	}
	return slog.GroupValue(append(attrs, slog.String("error", e.Error()))...)
}

// ids returns the attributes by which a payment is searched for. A ValidationError may be about them: something else may be in their place.
func (e *CallError) ids() []slog.Attr {
	if _, invalid := errors.AsType[*ValidationError](e.Err); invalid {
		return nil
	}
	return idAttrs(e.RequestID, e.CorrelationID)
}

// idAttrs returns the IDs that are set. They identify no person.
func idAttrs(requestID RequestID, correlationID string) (attrs []slog.Attr) {
	for _, id := range [...][2]string{{"request_id", string(requestID)}, {"correlation_id", correlationID}} {
		if id[1] != "" {
			attrs = append(attrs, slog.String(id[0], redact.Line(id[1])))
		}
	}
	return attrs
}

func (e APIError) LogValue() slog.Value {
	return slog.GroupValue(append(e.attrs(), slog.String("error", e.Error()))...)
}

func (e *APIError) attrs() []slog.Attr {
	attrs := []slog.Attr{slog.Int("status", e.StatusCode)}
	if e.Code != "" {
		attrs = append(attrs, slog.String("code", printableCode(e.Code)))
	}
	return attrs
}

func (e *ValidationError) LogValue() slog.Value {
	fields := make([]string, len(e.Faults))
	for i, fault := range e.Faults {
		fields[i] = fault.Field
	}
	return slog.GroupValue(slog.Any("fields", fields), slog.String("error", e.Error()))
}

// isFreeHeader reports whether the caller may set a header. The others belong to the client, the connection or proxies, or replace method
// or path; with an idempotency key, net/http would repeat a POST by itself. Some servers read '_' as '-'.
func isFreeHeader(name string) bool {
	if name == "" || !ascii.IsName(name) {
		return false
	}
	name = strings.ReplaceAll(strings.ToLower(name), "_", "-")
	for _, taken := range []string{
		"accept", "accept-charset", "accept-encoding", "authorization", "connection", "content-", "cookie", "expect", "host", "keep-alive",
		"proxy-", "te", "trailer", "transfer-", "upgrade", "user-agent",
	} {
		if name == taken || strings.HasSuffix(taken, "-") && strings.HasPrefix(name, taken) {
			return false
		}
	}
	return !slices.ContainsFunc([]string{
		"idempotency", "forwarded", "http-method", "method-override", "path-override", "original-", "rewrite-",
	}, func(part string) bool { return strings.Contains(name, part) })
}

// isHeaderValue reports whether net/http sends a value unchanged.
func isHeaderValue(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r > '~' })
}
