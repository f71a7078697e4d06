package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A CallError holds the operation, its outcome and the times of sending. It prints without names, amounts and
// addresses.
func ExampleCallError() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	srv.Inject("POST /funding/refunds", prepaidtest.DropBeforeCommit())
	_, err := client.Funding.Refund(context.Background(), prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount("12.30"), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001,
		Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	})
	if call, ok := errors.AsType[*prepaid.CallError](err); ok {
		fmt.Println(call.Operation, call.Outcome, call.CorrelationID, call.Attempts, call.LastSent.IsZero())
	}
	if broken, ok := errors.AsType[*prepaid.TransportError](err); ok {
		fmt.Println("may have arrived:", broken.Sent)
	}
	// Output:
	// Funding.Refund unknown order-7 1 false
	// may have arrived: true
}

// The service's description may repeat request data, so it is in a field and not in the text of the error.
func ExampleAPIError() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.Inject("POST /policy/{id}/categories", prepaidtest.RespondBody(400, "application/vnd.vendor+json",
		`{"error": "invalid_request", "error_description": "category 7995 is not for this program"}`))

	err := client.Policy.ChangeCategories(ctx, 42, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"7995"}})
	fmt.Println(err)
	if apiError, ok := errors.AsType[*prepaid.APIError](err); ok {
		fmt.Println(apiError.StatusCode, apiError.Code, prepaid.Known(apiError.Code))
		fmt.Println(apiError.Description)
	}
	// Output:
	// prepaid: Policy.ChangeCategories: rejected: status 400 (invalid_request): category 7995 is not for this program
	// 400 invalid_request true
	// category 7995 is not for this program
}

// A refusal resolves an outcome that another process has left unknown only if the service itself refuses the same
// params, sent when the first request can no longer be in flight. A gateway's refusal proves nothing: the service never
// received the request.
func ExampleProvesNotApplied() {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	client, from, to := srv.Client(), seed(srv, "10.00"), seed(srv, "0")
	died := time.Now().Add(-time.Hour)
	check(client.Accounts.AwaitRepeat(context.Background(), from, died))
	again := func() error { // a payment that another process sent before it died
		_, err := client.Accounts.Transfer(context.Background(), from, invoice(to, "25.50"))
		return err
	}
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.ProxyPage(403))
	for range 2 {
		err := again()
		fmt.Println(prepaid.OutcomeOf(err), prepaid.ProvesNotApplied(err, died))
	}
	// Output:
	// unknown false
	// rejected true
}

// A form is checked in a handler, before a job pays. The text names fields and rules, never values.
func ExampleTransferParams_Validate() {
	err := prepaid.TransferParams{RequestID: "invoice-7", SourceReference: "invoice 7", DestinationReference: "invoice 7"}.Validate()
	invalid, _ := errors.AsType[*prepaid.ValidationError](err)
	for _, fault := range invalid.Faults {
		fmt.Println(fault.Field+":", fault.Rule)
	}
	// Output:
	// amount: must be above zero
	// destination_account_id: is required
}

// One log record with the facts that a support engineer needs about a failed call: time, operation, outcome, and the
// IDs to ask the operator about. It contains no personal data.
func ExampleCallError_support() {
	sent := time.Date(2026, time.November, 20, 3, 0, 0, 0, time.UTC)
	var err error = &prepaid.CallError{ // as a call returns it
		Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeUnknown, AccountID: "EA52174568995001",
		RequestID: "invoice-7", CorrelationID: "c-91", Attempts: 2, FirstSent: sent, LastSent: sent.Add(10 * time.Second),
		Err: &prepaid.APIError{StatusCode: 500, Code: prepaid.CodeServerError, Description: "may repeat what was sent"},
	}
	if call, ok := errors.AsType[*prepaid.CallError](err); ok { // slog does not unwrap
		printLogger().Error("call failed", "account", call.AccountID, "cause", call)
	}
	// Output:
	// level=ERROR msg="call failed" account=EA52174568995001 cause.operation=Accounts.Transfer cause.outcome=unknown cause.attempts=2 cause.request_id=invoice-7 cause.correlation_id=c-91 cause.first_sent=2026-11-20T03:00:00.000Z cause.last_sent=2026-11-20T03:00:10.000Z cause.status=500 cause.code=server_error cause.error="prepaid: Accounts.Transfer: outcome unknown after 2 attempts, request_id invoice-7, correlation_id c-91: status 500 (server_error)"
}
