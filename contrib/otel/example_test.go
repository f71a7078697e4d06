package prepaidotel_test

import (
	"context"
	"fmt"

	"go.opentelemetry.io/otel/attribute"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/cardprograms/prepaid"
	prepaidotel "github.com/cardprograms/prepaid/contrib/otel"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// OpenTelemetry's global providers need one line.
func ExampleInstrument_global() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	config := srv.Config()
	client, err := prepaid.NewClient(prepaidotel.Instrument(config, prepaidotel.Options{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	_, err = client.Check(context.Background())
	fmt.Println(err)
	// Output: <nil>
}

// The service is briefly unavailable: two attempts in one call.
func ExampleInstrument() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	id := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	srv.Inject("GET /accounts/{id}", prepaidtest.Respond(503, ""))

	spans := tracetest.NewInMemoryExporter() // in a program, otlptracegrpc or similar
	provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(spans))
	client, err := prepaid.NewClient(prepaidotel.Instrument(srv.Config(), prepaidotel.Options{TracerProvider: provider}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	if _, err := client.Token(context.Background()); err != nil {
		fmt.Println(err)
		return
	}
	spans.Reset()

	if _, err := client.Accounts.Get(context.Background(), id); err != nil {
		fmt.Println(err)
		return
	}
	for _, span := range spans.GetSpans() {
		seen := attribute.NewSet(span.Attributes...)
		fmt.Print(span.Name)
		for _, key := range []attribute.Key{"http.response.status_code", "error.type", "prepaid.outcome"} {
			if value, ok := seen.Value(key); ok {
				fmt.Printf(" %s=%s", key, value.String())
			}
		}
		fmt.Println()
	}
	// Output:
	// GET /accounts/{id} http.response.status_code=503 error.type=503
	// GET /accounts/{id} http.response.status_code=200
	// Accounts.Get prepaid.outcome=applied
}
