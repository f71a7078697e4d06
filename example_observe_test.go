package prepaid_test

import (
	"context"
	"fmt"
	"log/slog"
	"os"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// printLogger logs to standard output, without times and other values that differ from run to run.
func printLogger() *slog.Logger {
	return slog.New(slog.NewTextHandler(os.Stdout, &slog.HandlerOptions{
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey || a.Value.Kind() == slog.KindDuration {
				return slog.Attr{}
			}
			return a
		},
	}))
}

// A logger gets one record per repeated attempt and, at debug level, one per call: path templates, no IDs, no amounts.
func ExampleConfig_logger() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()
	config.Logger = printLogger()
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()

	srv.Inject("GET /accounts/{id}/status", prepaidtest.Respond(503, ""))
	_, err = client.Accounts.Summary(context.Background(), id)
	fmt.Println(err)
	// Output:
	// level=WARN msg="prepaid: attempt failed" operation=Accounts.Summary path=/accounts/{id}/status attempt=1 status=503 error="prepaid: status 503 (server_error): injected"
	// <nil>
}

// Count all calls by operation and outcome: a metric with few labels.
func ExampleTrace() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()
	calls := map[string]int{}
	config.Trace = &prepaid.Trace{
		CallDone: func(_ context.Context, op prepaid.Operation, c prepaid.CallSummary) {
			calls[op.Name+" "+c.Outcome.String()]++ // guard it with a mutex when calls run in parallel
		},
	}
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()

	for _, account := range []prepaid.AccountID{id, "EA00000000000000", id} {
		if _, err := client.Accounts.Summary(context.Background(), account); err != nil {
			fmt.Println(err)
		}
	}
	fmt.Println(calls)
	// Output:
	// prepaid: Accounts.Summary: rejected: status 404 (account_not_found): the account does not exist
	// map[Accounts.Summary applied:2 Accounts.Summary rejected:1 Token applied:1]
}

// Two observers of one client: one counts, one logs. If one panics, the other still works.
func ExampleTrace_Join() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()
	unknown := 0
	counts := &prepaid.Trace{CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) {
		if c.Outcome == prepaid.OutcomeUnknown {
			unknown++ // guard it with a mutex when calls run in parallel
		}
	}}
	config.Trace = counts.Join(&prepaid.Trace{CallDone: func(_ context.Context, op prepaid.Operation, c prepaid.CallSummary) {
		fmt.Println(op.Name, c.Outcome)
	}})
	client, err := prepaid.NewClient(config)
	check(err)
	defer client.Close()

	srv.Inject("POST /funding/refunds", prepaidtest.CommitThenDrop())
	_, err = client.Funding.Refund(context.Background(), prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount("12.30"), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001,
		Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	})
	fmt.Println(err)
	fmt.Println("to be resolved:", unknown)
	// Output:
	// Token applied
	// Funding.Refund unknown
	// prepaid: Funding.Refund: outcome unknown, correlation_id order-7: no complete response (headers): EOF
	// to be resolved: 1
}

// signing adds a header to every request. It returns errors unchanged.
