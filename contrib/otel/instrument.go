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

// scope is the name of the instrumentation.
const (
	scope   = "github.com/cardprograms/prepaid/contrib/otel"
	version = "0.1.0"
)

// Options are the settings of [Instrument]. The zero value is ready for use.
type Options struct {
	// TracerProvider replaces otel.GetTracerProvider.
	TracerProvider trace.TracerProvider
	// MeterProvider replaces otel.GetMeterProvider.
	MeterProvider metric.MeterProvider
	// Propagator writes the trace context that is sent with every request. If nil, no context is sent: the service belongs to
	// another party. propagation.TraceContext sends two IDs and the trace state; propagation.Baggage would send everything
	// that your own services have put into their baggage.
	Propagator propagation.TextMapPropagator
}

// Instrument returns config with spans and metrics. It keeps config's Propagate and Trace. config's Trace is called
// second, so that its hooks find the spans in their contexts. An instrument that the meter provider refuses is reported
// to otel.Handle and measures nothing.
func Instrument(config prepaid.Config, options Options) prepaid.Config {
	if options.TracerProvider == nil {
		options.TracerProvider = otel.GetTracerProvider()
	}
	if options.MeterProvider == nil {
		options.MeterProvider = otel.GetMeterProvider()
	}
	o := &observer{
		tracer: options.TracerProvider.Tracer(scope, trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL)),
		metrics: newMetrics(options.MeterProvider.Meter(scope,
			metric.WithInstrumentationVersion(version), metric.WithSchemaURL(semconv.SchemaURL))),
		server: serverOf(config.BaseURL),
	}
	config.Trace = o.trace().Join(config.Trace)
	if options.Propagator != nil {
		config.Propagate = propagate(options.Propagator, config.Propagate)
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
