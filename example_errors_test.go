package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A CallError says what was tried, what is known of its effect, and when it may have left. It prints without names,
// amounts and addresses.
func ExampleCallError() {
	srv := emulator()
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
	// Funding.Refund outcome unknown order-7 1 false
	// may have arrived: true
}

// The service's own words may repeat what was sent, so they are in a field and not in the text of the error.
func ExampleAPIError() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()
	srv.Inject("POST /policy/{id}/categories", prepaidtest.AnswerBody(400, "application/vnd.vendor+json",
		`{"error": "invalid_request", "error_description": "category 7995 is not for this program"}`))

	err := client.Policy.ChangeCategories(context.Background(), 42, prepaid.ChangeCategoriesParams{Add: []prepaid.MCC{"7995"}})
	fmt.Println(err)
	if answer, ok := errors.AsType[*prepaid.APIError](err); ok {
		fmt.Println(answer.StatusCode, answer.Code, answer.Code.Known())
		fmt.Println(answer.Description)
	}
	// Output:
	// prepaid: Policy.ChangeCategories: rejected: status 400 (invalid_request): category 7995 is not for this program
	// 400 invalid_request true
	// category 7995 is not for this program
}

// The context bounds a call with all its attempts and pauses. A wait that would outlast it is not begun.
func ExampleOutcomeOf_deadline() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	ctx, cancel := context.WithTimeout(context.Background(), time.Second)
	defer cancel()
	srv.Inject("GET /accounts/{id}/status", prepaidtest.TooManyRequests(2*time.Second).Always())
	_, err := client.Accounts.Status(ctx, id)
	fmt.Println(errors.Is(err, prepaid.ErrRateLimited), prepaid.OutcomeOf(err))
	if answer, ok := errors.AsType[*prepaid.APIError](err); ok {
		fmt.Println("come back in", answer.RetryAfter)
	}
	// Output:
	// true not processed
	// come back in 2s
}

// A test of your own payment code needs no service to build an error of any outcome.
func ExampleCallError_inTests() {
	pay := func(transfer func() error) string {
		if errors.Is(transfer(), prepaid.ErrOutcomeUnknown) {
			return "send the same params again"
		}
		return "settled"
	}
	fmt.Println(pay(func() error {
		return &prepaid.CallError{Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeUnknown}
	}))
	fmt.Println(pay(func() error { return nil }))
	// Output:
	// send the same params again
	// settled
}
