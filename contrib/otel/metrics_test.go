package prepaidotel_test

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/metric"
	metricnoop "go.opentelemetry.io/otel/metric/noop"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	tracenoop "go.opentelemetry.io/otel/trace/noop"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The histogram of the conventions has their unit and buckets.
func TestConventionalHistogram(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	s.token()
	for _, m := range s.collect() {
		if m.Name != "http.client.request.duration" {
			continue
		}
		require.Equal(t, "s", m.Unit)
		data := m.Data.(metricdata.Histogram[float64])
		require.Equal(t, []float64{0.005, 0.01, 0.025, 0.05, 0.075, 0.1, 0.25, 0.5, 0.75, 1, 2.5, 5, 7.5, 10}, data.DataPoints[0].Bounds)
		return
	}
	t.Fatal("it is not there")
}

// An address without a port has the scheme's port; NewClient refuses an invalid address.
func TestServerAttributes(t *testing.T) {
	t.Parallel()
	for address, want := range map[string][]attribute.KeyValue{
		"https://cards.example/3.0/":         {attribute.String("server.address", "cards.example"), attribute.Int("server.port", 443)},
		"https://cards.example:8443/x/3.0/":  {attribute.String("server.address", "cards.example"), attribute.Int("server.port", 8443)},
		"http://localhost/3.0/":              {attribute.String("server.address", "localhost"), attribute.Int("server.port", 80)},
		"https://[::1]:1/3.0/":               {attribute.String("server.address", "::1"), attribute.Int("server.port", 1)},
		"https://user:CANARY@host:port/3.0/": nil,
		"":                                   nil,
	} {
		spans := tracetest.NewInMemoryExporter()
		config := prepaidotel.Instrument(prepaid.Config{BaseURL: address, Vendor: "vendor", Token: staticToken()},
			prepaidotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))})
		if want == nil {
			require.Error(t, config.Validate())
			continue
		}
		client, err := prepaid.NewClient(config)
		require.NoError(t, err)
		_, err = client.Accounts.Get(t.Context(), "")
		require.Error(t, err)
		got := spans.GetSpans()[0].Attributes
		for _, one := range want {
			require.Contains(t, got, one, address)
		}
	}
}

// Without options everything goes to OpenTelemetry's global providers.
func TestGlobalProviders(t *testing.T) { //nolint:paralleltest // it sets what is global
	before := otel.GetTracerProvider()
	t.Cleanup(func() { otel.SetTracerProvider(before) })
	spans := tracetest.NewInMemoryExporter()
	otel.SetTracerProvider(sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans)))
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client, err := prepaid.NewClient(prepaidotel.Instrument(srv.Config(), prepaidotel.Options{}))
	require.NoError(t, err)
	_, err = client.Token(t.Context())
	require.NoError(t, err)
	require.NoError(t, client.Close())
	require.Len(t, spans.GetSpans(), 2)
}

// A meter that refuses every instrument does not affect calls, and the refusal is reported.
func TestRefusedInstruments(t *testing.T) { //nolint:paralleltest // it sets what is global
	before := otel.GetErrorHandler()
	t.Cleanup(func() { otel.SetErrorHandler(before) })
	var reported int
	otel.SetErrorHandler(otel.ErrorHandlerFunc(func(err error) {
		if errors.Is(err, errRefused) {
			reported++
		}
	}))
	srv := prepaidtest.NewServer(t, prepaidtest.Options{})
	client, err := prepaid.NewClient(prepaidotel.Instrument(srv.Config(),
		prepaidotel.Options{MeterProvider: refusing{}, TracerProvider: tracenoop.NewTracerProvider()}))
	require.NoError(t, err)
	require.Equal(t, 11, reported)
	_, err = client.Accounts.Get(t.Context(), srv.AddAccount(prepaidtest.SeedAccount{}))
	require.NoError(t, err)
	require.NoError(t, client.Close())
}

var errRefused = errors.New("refused")

type refusing struct{ metricnoop.MeterProvider }

func (refusing) Meter(string, ...metric.MeterOption) metric.Meter { return refusingMeter{} }

type refusingMeter struct{ metricnoop.Meter }

func (refusingMeter) Int64Counter(string, ...metric.Int64CounterOption) (metric.Int64Counter, error) {
	return nil, errRefused
}

func (refusingMeter) Float64Histogram(string, ...metric.Float64HistogramOption) (metric.Float64Histogram, error) {
	return nil, errRefused
}
