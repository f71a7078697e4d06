package prepaidotel

import (
	"context"
	"errors"
	"slices"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cardprograms/prepaid"
)

// The attributes of our own.
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

// observer makes the spans and measurements of one client.
type observer struct {
	tracer  trace.Tracer
	metrics *metrics
	server  []attribute.KeyValue
}

// spanKey finds the observer's own span in a context, in which other hooks may have put theirs.
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

// span is the one that start put into ctx, or one that does nothing.
func (o *observer) span(ctx context.Context, attempt bool) trace.Span {
	if span, ok := ctx.Value(spanKey{o, attempt}).(trace.Span); ok {
		return span
	}
	return trace.SpanFromContext(context.Background())
}

func (o *observer) callStart(ctx context.Context, op prepaid.Operation) context.Context {
	return o.start(ctx, op.Name, false, trace.WithSpanKind(trace.SpanKindInternal),
		trace.WithAttributes(keyOperation.String(op.Name)), trace.WithAttributes(o.server...))
}

func (o *observer) throttled(ctx context.Context, op prepaid.Operation, waited time.Duration) {
	if span := o.span(ctx, false); span.IsRecording() {
		span.AddEvent(eventLimiterWait, trace.WithAttributes(keyWait.Float64(waited.Seconds())))
	}
	o.metrics.throttled(ctx, op, waited)
}

func (o *observer) attemptStart(ctx context.Context, op prepaid.Operation, attempt int) context.Context {
	attributes := append(o.request(op), keyOperation.String(op.Name))
	if attempt > 1 {
		attributes = append(attributes, semconv.HTTPRequestResendCount(attempt-1))
	}
	return o.start(ctx, op.Method+" "+op.Path, true, trace.WithSpanKind(trace.SpanKindClient), trace.WithAttributes(attributes...))
}

// request is what the conventions want to know of a request, in spans and metrics alike.
func (o *observer) request(op prepaid.Operation) []attribute.KeyValue {
	return append(slices.Clip(o.server), semconv.HTTPRequestMethodKey.String(op.Method), semconv.URLTemplate(op.Path))
}

func (o *observer) attemptDone(ctx context.Context, op prepaid.Operation, a prepaid.Attempt) {
	result := resultOf(a)
	span := o.span(ctx, true)
	if span.IsRecording() {
		span.SetAttributes(result...)
		if a.WillWait > 0 {
			span.SetAttributes(keyRetryWait.Float64(a.WillWait.Seconds()))
		}
		if a.Err != nil {
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	o.metrics.attemptDone(ctx, op, a, func() []attribute.KeyValue { return append(o.request(op), result...) })
}

// resultOf is the end of an attempt by the conventions.
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
		span.SetAttributes(keyOutcome.String(outcomeName(c.Outcome)), keyAttempts.Int(c.Attempts))
		if failed(c.Err) {
			span.SetAttributes(semconv.ErrorTypeKey.String(errorType(c.Err)))
			span.SetStatus(codes.Error, "")
		}
	}
	span.End()
	o.metrics.callDone(ctx, op, c)
}

// failed reports an error that is one: a report that is not ready is the usual answer to a poll.
func failed(err error) bool { return err != nil && !errors.Is(err, prepaid.ErrReportNotReady) }

func outcomeName(outcome prepaid.Outcome) string {
	switch outcome {
	case prepaid.OutcomeApplied:
		return "applied"
	case prepaid.OutcomeRejected:
		return "rejected"
	case prepaid.OutcomeNotProcessed:
		return "not_processed"
	case prepaid.OutcomeUnknown:
	}
	return "unknown"
}
