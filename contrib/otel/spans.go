package prepaidotel

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cardprograms/prepaid"
)

// Attributes of this package.
const (
	keyOperation  = attribute.Key("prepaid.operation")
	keyOutcome    = attribute.Key("prepaid.outcome")
	keyAttempts   = attribute.Key("prepaid.attempts")
	keyRetryWait  = attribute.Key("prepaid.retry.wait")   // seconds
	keyWait       = attribute.Key("prepaid.limiter.wait") // seconds
	keyWaitReason = attribute.Key("prepaid.wait.reason")
	keyResend     = attribute.Key("prepaid.resend")
)

const (
	eventLimiterWait = "prepaid.limiter.wait"
	reasonBackOff    = "back_off"
	reasonThrottled  = "throttled"
)

// observer creates the spans and measurements of one client.
type observer struct {
	tracer  trace.Tracer
	metrics *metrics
	server  []attribute.KeyValue
	known   sync.Map // maps prepaid.Operation to *described; about 50 entries
}

// described holds the attributes that all calls of an operation share.
type described struct {
	request []attribute.KeyValue // attributes that conventions require in spans and metrics
	attempt string               // name of an attempt's span
	options struct{ call, attempt []trace.SpanStartOption }
}

func (o *observer) describe(op prepaid.Operation) *described {
	if known, ok := o.known.Load(op); ok {
		return known.(*described)
	}
	d := &described{attempt: op.Method + " " + op.Path}
	d.request = append(slices.Clone(o.server), semconv.HTTPRequestMethodKey.String(op.Method), semconv.URLTemplate(op.Path))
	d.request = slices.Clip(d.request)
	name := keyOperation.String(op.Name)
	d.options.call = []trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindInternal), trace.WithAttributes(append(slices.Clone(o.server), name)...),
	}
	d.options.attempt = slices.Clip([]trace.SpanStartOption{
		trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(append(d.request, name)...),
	})
	o.known.Store(op, d)
	return d
}

// spanKey finds the observer's own span in a context: other hooks may add spans.
type spanKey struct {
	of      *observer
	attempt bool
}

func (o *observer) trace() *prepaid.Trace {
	return &prepaid.Trace{
		CallStart:    o.callStart,
		Throttled:    o.throttled,
		AttemptStart: o.attemptStart,
		AttemptDone:  o.attemptDone,
		CallDone:     o.callDone,
		TokenRenewed: o.metrics.tokenRenewed,
	}
}

func (o *observer) start(ctx context.Context, name string, attempt bool, options ...trace.SpanStartOption) context.Context {
	ctx, span := o.tracer.Start(ctx, name, options...)
	return context.WithValue(ctx, spanKey{o, attempt}, span)
}

// span returns the span that start put into ctx, or a span that does nothing.
func (o *observer) span(ctx context.Context, attempt bool) trace.Span {
	if span, ok := ctx.Value(spanKey{o, attempt}).(trace.Span); ok {
		return span
	}
	return trace.SpanFromContext(context.Background())
}

func (o *observer) callStart(ctx context.Context, op prepaid.Operation) context.Context {
	return o.start(ctx, op.Name, false, o.describe(op).options.call...)
}

func (o *observer) throttled(ctx context.Context, op prepaid.Operation, waited time.Duration) {
	if span := o.span(ctx, false); span.IsRecording() {
		span.AddEvent(eventLimiterWait, trace.WithAttributes(keyWait.Float64(waited.Seconds())))
	}
	o.metrics.throttled(ctx, op, waited)
}

func (o *observer) attemptStart(ctx context.Context, op prepaid.Operation, attempt int) context.Context {
	d := o.describe(op)
	options := d.options.attempt
	if attempt > 1 {
		options = append(options, trace.WithAttributes(semconv.HTTPRequestResendCount(attempt-1)))
	}
	return o.start(ctx, d.attempt, true, options...)
}

func (o *observer) attemptDone(ctx context.Context, op prepaid.Operation, a prepaid.Attempt) {
	span := o.span(ctx, true)
	if span.IsRecording() {
		span.SetAttributes(resultOf(a)...)
		if a.WillWait > 0 {
			span.SetAttributes(keyRetryWait.Float64(a.WillWait.Seconds()))
		}
		if a.Err != nil {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	if o.metrics.request.Enabled(ctx) {
		record(ctx, o.metrics.request, a.Duration, append(o.describe(op).request, resultOf(a)...)...)
	}
	o.metrics.attemptDone(ctx, op, a)
}

// resultOf returns the result of an attempt, as attributes that the conventions define.
func resultOf(a prepaid.Attempt) []attribute.KeyValue {
	var attributes []attribute.KeyValue
	if a.StatusCode != 0 {
		attributes = append(attributes, semconv.HTTPResponseStatusCode(a.StatusCode))
	}
	if a.Err != nil {
		attributes = append(attributes, attemptErrorType(a))
	}
	return attributes
}

func (o *observer) callDone(ctx context.Context, op prepaid.Operation, c prepaid.CallSummary) {
	span := o.span(ctx, false)
	if span.IsRecording() {
		span.SetAttributes(keyOutcome.String(c.Outcome.String()), keyAttempts.Int(c.Attempts))
		if failed(c.Err) {
			span.SetAttributes(semconv.ErrorTypeKey.String(errorType(c.Err)))
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	o.metrics.callDone(ctx, op, c)
}

// failed reports whether err is a failure. "Not ready" is no failure: polls of a report usually return it.
func failed(err error) bool { return err != nil && !errors.Is(err, prepaid.ErrReportNotReady) }
