package prepaidotel

import (
	"context"
	"net/http"
	"slices"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/metric/noop"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/semconv/v1.43.0/httpconv"

	"github.com/cardprograms/prepaid"
)

// metrics are the instruments; the README lists them.
type metrics struct {
	request metric.Float64Histogram

	calls        metric.Int64Counter
	unknown      metric.Int64Counter
	callDuration metric.Float64Histogram

	attempts metric.Int64Counter
	rejected metric.Int64Counter // 429s
	retries  metric.Float64Histogram
	limiter  metric.Float64Histogram

	renewals        metric.Int64Counter
	failedRenewals  metric.Int64Counter
	renewalDuration metric.Float64Histogram
}

func newMetrics(meter metric.Meter) *metrics {
	// The conventions' buckets, and two more buckets for calls with several attempts and pauses.
	brief := []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}
	long := slices.Concat(brief, []float64{30, 60})
	request, err := httpconv.NewClientRequestDuration(meter, metric.WithExplicitBucketBoundaries(brief...))
	if err != nil {
		otel.Handle(err)
	}
	return &metrics{
		request: request.Inst(),

		calls:        counter(meter, "prepaid.call.count", "{call}", "Calls that ended, by outcome."),
		unknown:      counter(meter, "prepaid.call.unknown", "{call}", "Calls that may or may not have been applied."),
		callDuration: histogram(meter, "prepaid.call.duration", "Duration of calls, with all attempts and waits.", long),

		attempts: counter(meter, "prepaid.attempt.count", "{attempt}", "Attempts, first ones and repeats."),
		rejected: counter(meter, "prepaid.attempt.throttled", "{attempt}", "Attempts refused with 429."),
		retries:  histogram(meter, "prepaid.retry.wait", "Pauses before another attempt.", long),
		limiter:  histogram(meter, "prepaid.limiter.wait", "Waits of a millisecond and more for the limiter.", long),

		renewals:        counter(meter, "prepaid.token.renewal.count", "{renewal}", "Token renewals, failed ones included."),
		failedRenewals:  counter(meter, "prepaid.token.renewal.failed", "{renewal}", "Token renewals that failed."),
		renewalDuration: histogram(meter, "prepaid.token.renewal.duration", "Duration of token renewals.", long),
	}
}

func counter(meter metric.Meter, name, unit, description string) metric.Int64Counter {
	made, err := meter.Int64Counter(name, metric.WithUnit(unit), metric.WithDescription(description))
	if err != nil {
		otel.Handle(err)
	}
	if made == nil {
		return noop.Int64Counter{}
	}
	return made
}

func histogram(meter metric.Meter, name, description string, buckets []float64) metric.Float64Histogram {
	made, err := meter.Float64Histogram(name, metric.WithUnit("s"), metric.WithDescription(description),
		metric.WithExplicitBucketBoundaries(buckets...))
	if err != nil {
		otel.Handle(err)
	}
	if made == nil {
		return noop.Float64Histogram{}
	}
	return made
}

func (m *metrics) throttled(ctx context.Context, op prepaid.Operation, waited time.Duration) {
	record(ctx, m.limiter, waited, keyOperation.String(op.Name))
}

func (m *metrics) attemptDone(ctx context.Context, op prepaid.Operation, a prepaid.Attempt) {
	name := keyOperation.String(op.Name)
	add(ctx, m.attempts, name, keyResend.Bool(a.Number > 1))
	reason := reasonBackOff
	if a.StatusCode == http.StatusTooManyRequests {
		add(ctx, m.rejected, name)
		reason = reasonThrottled
	}
	if a.WillWait > 0 {
		record(ctx, m.retries, a.WillWait, name, keyWaitReason.String(reason))
	}
}

func (m *metrics) callDone(ctx context.Context, op prepaid.Operation, c prepaid.CallSummary) {
	name, outcome := keyOperation.String(op.Name), keyOutcome.String(c.Outcome.String())
	if failed(c.Err) {
		add(ctx, m.calls, name, outcome, semconv.ErrorTypeKey.String(errorType(c.Err)))
	} else {
		add(ctx, m.calls, name, outcome)
	}
	if c.Outcome == prepaid.OutcomeUnknown {
		add(ctx, m.unknown, name)
	}
	record(ctx, m.callDuration, c.Duration, name, outcome)
}

func (m *metrics) tokenRenewed(ctx context.Context, took time.Duration, err error) {
	add(ctx, m.renewals)
	if err != nil {
		add(ctx, m.failedRenewals, semconv.ErrorTypeKey.String(renewalErrorType(err)))
	}
	record(ctx, m.renewalDuration, took)
}

func add(ctx context.Context, to metric.Int64Counter, attributes ...attribute.KeyValue) {
	if to.Enabled(ctx) {
		to.Add(ctx, 1, metric.WithAttributeSet(attribute.NewSet(attributes...)))
	}
}

func record(ctx context.Context, to metric.Float64Histogram, took time.Duration, attributes ...attribute.KeyValue) {
	if to.Enabled(ctx) {
		to.Record(ctx, took.Seconds(), metric.WithAttributeSet(attribute.NewSet(attributes...)))
	}
}
