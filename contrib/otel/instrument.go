package prepaidotel

import (
	"context"
	"maps"
	"net/http"
	"net/url"
	"strconv"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	"go.opentelemetry.io/otel/propagation"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/cardprograms/prepaid"
)

// scope names the instrumentation to its readers.
const (
	scope   = "github.com/cardprograms/prepaid/contrib/otel"
	version = "0.1.0"
)

// Option changes a default of [Instrument].
type Option func(*settings)

type settings struct {
	tracers    trace.TracerProvider
	meters     metric.MeterProvider
	propagator propagation.TextMapPropagator
}

// WithTracerProvider uses provider instead of otel.GetTracerProvider. Nil changes nothing.
func WithTracerProvider(provider trace.TracerProvider) Option {
	return func(s *settings) {
		if provider != nil {
			s.tracers = provider
		}
	}
}

// WithMeterProvider uses provider instead of otel.GetMeterProvider. Nil changes nothing.
func WithMeterProvider(provider metric.MeterProvider) Option {
	return func(s *settings) {
		if provider != nil {
			s.meters = provider
		}
	}
}

// WithPropagator sends the trace context with every request, as written by propagator. Without this option, or with nil,
// none is sent: the service belongs to another party. propagation.TraceContext sends two IDs and the trace state;
// propagation.Baggage would send everything that your own services have put into their baggage.
func WithPropagator(propagator propagation.TextMapPropagator) Option {
	return func(s *settings) { s.propagator = propagator }
}

// Instrument returns config with spans and metrics. An existing Trace is kept and called second, so that its hooks find
// the spans in their contexts; an existing Propagate is kept as well. An instrument that the meter provider refuses is
// reported to otel.Handle and measures nothing.
func Instrument(config prepaid.Config, options ...Option) prepaid.Config {
	s := settings{tracers: otel.GetTracerProvider(), meters: otel.GetMeterProvider()}
	for _, option := range options {
		option(&s)
	}
	o := &observer{
		tracer: s.tracers.Tracer(scope, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL)),
		metrics: newMetrics(s.meters.Meter(scope,
			metric.WithInstrumentationVersion(version), metric.WithSchemaURL(semconv.SchemaURL))),
		server: serverOf(config.BaseURL),
	}
	config.Trace = prepaid.JoinTraces(o.trace(), config.Trace)
	if s.propagator != nil {
		config.Propagate = propagate(s.propagator, config.Propagate)
	}
	return config
}

// serverOf returns the service's host and port; nothing for an address that NewClient will refuse.
func serverOf(base string) []attribute.KeyValue {
	u, err := url.Parse(base)
	if err != nil || u.Hostname() == "" {
		return nil
	}
	port, err := strconv.Atoi(u.Port())
	switch {
	case err == nil:
	case u.Scheme == "http":
		port = 80
	default:
		port = 443
	}
	return []attribute.KeyValue{semconv.ServerAddress(u.Hostname()), semconv.ServerPort(port)}
}

func propagate(propagator propagation.TextMapPropagator, before func(context.Context) http.Header) func(context.Context) http.Header {
	return func(ctx context.Context) http.Header {
		header := http.Header{}
		if before != nil {
			maps.Copy(header, before(ctx))
		}
		propagator.Inject(ctx, propagation.HeaderCarrier(header))
		return header
	}
}
