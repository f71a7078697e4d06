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

// The first response of a transfer is lost: two attempts in one call, a read between them, and the money moved once.
func ExampleInstrument() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())

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

	_, err = client.Accounts.Transfer(context.Background(), from, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "salary", DestinationReference: "salary",
	})
	if err != nil {
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
	// POST /accounts/{id}/transfer error.type=transport_headers
	// GET /accounts/{id}/status http.response.status_code=200
	// Accounts.Summary prepaid.outcome=applied
	// POST /accounts/{id}/transfer http.response.status_code=200
	// Accounts.Transfer prepaid.outcome=applied
}
