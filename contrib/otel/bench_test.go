package prepaidotel_test

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"testing"

	metricnoop "go.opentelemetry.io/otel/metric/noop"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	tracenoop "go.opentelemetry.io/otel/trace/noop"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/ratelimit"
)

// canned responds at once, so that only the client is measured.
type canned struct{}

func (canned) RoundTrip(r *http.Request) (*http.Response, error) {
	const body = `{"account_id":"EA1","company_id":42,"balance":1,"status":"active"}`
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}},
		Body: io.NopCloser(bytes.NewReader([]byte(body))), ContentLength: int64(len(body)), Request: r,
	}, nil
}

// One call without a network: the cost of the instrumentation with providers that do nothing, and with the SDK's.
func BenchmarkCall(b *testing.B) {
	meters := sdkmetric.NewMeterProvider(sdkmetric.WithReader(sdkmetric.NewManualReader()))
	noop := &prepaidotel.Options{TracerProvider: tracenoop.NewTracerProvider(), MeterProvider: metricnoop.NewMeterProvider()}
	sampled := &prepaidotel.Options{TracerProvider: sdktrace.NewTracerProvider(), MeterProvider: meters}
	unsampled := &prepaidotel.Options{TracerProvider: sdktrace.NewTracerProvider(sdktrace.WithSampler(sdktrace.NeverSample())), MeterProvider: meters}
	for _, c := range []struct {
		name    string
		options *prepaidotel.Options
	}{{name: "none"}, {"noop", noop}, {"unsampled", unsampled}, {"sampled", sampled}} {
		b.Run(c.name, func(b *testing.B) {
			config := prepaid.Config{
				BaseURL: "https://cards.example/3.0/", Vendor: "vendor", Token: fixedToken{}.Token, Transport: canned{},
				Limiter: ratelimit.None{},
			}
			if c.options != nil {
				config = prepaidotel.Instrument(config, *c.options)
			}
			client, err := prepaid.NewClient(config)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			for b.Loop() {
				if _, err := client.Accounts.Get(b.Context(), "acc-1"); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

type fixedToken struct{}

func (fixedToken) Token(context.Context, *oauth2.Token) (*oauth2.Token, error) {
	return &oauth2.Token{AccessToken: "token"}, nil
}
