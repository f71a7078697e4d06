package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// What settles an outcome that another process has left unknown: only the service's own refusal of the same params, sent
// when the first can no longer be under way. A gateway's refusal proves nothing, since it was given before the service
// looked.
func ExampleSettlesDoubt() {
	srv := emulator()
	defer srv.Close()
	client, from, to := srv.Client(), seed(srv, "10.00"), seed(srv, "0")

	again := func() error { // the params of a payment that a process had sent before it died
		_, err := client.Accounts.Transfer(context.Background(), from, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
			SourceReference: "invoice 7", DestinationReference: "invoice 7",
		})
		return err
	}
	died := time.Now().Add(-time.Hour)
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.ProxyPage(403))
	for range 2 {
		err := again()
		fmt.Println(prepaid.OutcomeOf(err), prepaid.SettlesDoubt(err, died))
	}
	// Output:
	// outcome unknown false
	// rejected true
}

// A program that keeps its payments in a store of its own waits before it sends one of unknown outcome again.
func ExampleAccountsService_NotBefore() {
	srv := emulator()
	defer srv.Close()
	config := srv.Config()
	config.AttemptTimeout, config.Retry.InFlightWait = 0, 0 // the defaults, 30 s and 10 s
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()

	lockTaken := time.Date(2026, time.November, 20, 3, 0, 0, 0, time.UTC) // after the process that sent it died
	fmt.Println(client.Accounts.NotBefore(lockTaken).Format(time.TimeOnly))
	// Output: 03:00:40
}

// What a support engineer needs of a failed call, in one log record: when, what, how far it came, and the ids to ask
// the operator with. Nothing personal is in it.
func ExampleCallError_support() {
	report := func(log *slog.Logger, err error) {
		call, ok := errors.AsType[*prepaid.CallError](err)
		if !ok {
			log.Error("not a call", "error", err)
			return
		}
		log = log.With(
			"operation", call.Operation, "outcome", call.Outcome.String(), "account", string(call.AccountID),
			"request_id", string(call.RequestID), "correlation_id", call.CorrelationID,
			"attempts", call.Attempts, "first_sent", call.FirstSent, "last_sent", call.LastSent,
		)
		if answer, ok := errors.AsType[*prepaid.APIError](err); ok {
			log = log.With("status", answer.StatusCode, "code", string(answer.Code)) // not Description, not Body
		}
		log.Error("call failed", "cause", call.Err)
	}
	sent := time.Date(2026, time.November, 20, 3, 0, 0, 0, time.UTC)
	report(printLogger(), &prepaid.CallError{ // as a call returns it
		Operation: "Accounts.Transfer", Outcome: prepaid.OutcomeUnknown, AccountID: "EA52174568995001",
		RequestID: "invoice-7", CorrelationID: "c-91", Attempts: 2, FirstSent: sent, LastSent: sent.Add(10 * time.Second),
		Err: &prepaid.APIError{StatusCode: 500, Code: prepaid.CodeServerError, Description: "may repeat what was sent"},
	})
	// Output:
	// level=ERROR msg="call failed" operation=Accounts.Transfer outcome="outcome unknown" account=EA52174568995001 request_id=invoice-7 correlation_id=c-91 attempts=2 first_sent=2026-11-20T03:00:00.000Z last_sent=2026-11-20T03:00:10.000Z status=500 code=server_error cause="prepaid: status 500 (server_error)"
}

// Two observers of one client: one counts, one logs. A panic in one keeps the other working.
func ExampleJoinTraces() {
	srv := emulator()
	defer srv.Close()
	id := seed(srv, "100.00")
	config := srv.Config()
	unknown := 0
	config.Trace = prepaid.JoinTraces(
		&prepaid.Trace{CallDone: func(_ context.Context, _ prepaid.Operation, c prepaid.CallSummary) {
			if c.Outcome == prepaid.OutcomeUnknown {
				unknown++ // guard it with a mutex when calls run in parallel
			}
		}},
		&prepaid.Trace{CallDone: func(_ context.Context, op prepaid.Operation, c prepaid.CallSummary) {
			fmt.Println(op.Name, c.Outcome)
		}},
	)
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
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
	// Funding.Refund outcome unknown
	// prepaid: Funding.Refund: outcome unknown: no answer (answer): EOF
	// to be resolved: 1
}

// Issue run again after any error: it looks for the whole of Settle before it creates anything.
func ExampleIssueParams_again() {
	srv := emulator()
	defer srv.Close()
	client, ctx := srv.Client(), context.Background()
	issue := func(params prepaid.IssueParams) (*prepaid.Issued, error) {
		params.Settle = time.Second // the default of 30 s suits the real service
		return client.Accounts.Issue(ctx, params)
	}
	account := prepaid.CreateAccountParams{
		CompanyID: 42, ClientAccountKey: "emp-7",
		Registration: &prepaid.Cardholder{
			FirstName: "Ada", LastName: "Lovelace", DateOfBirth: prepaid.Date{Year: 1990, Month: time.May, Day: 1},
			PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
		},
	}

	srv.Inject("POST /accounts", prepaidtest.CommitThenDrop())
	srv.Inject("GET /accounts", prepaidtest.Fault{}, prepaidtest.Answer(400, "invalid_request")) // the second look fails
	issued, err := issue(prepaid.IssueParams{Account: account, ProgramClientID: "acme"})
	if err != nil { // whatever it was: a second account is worse than a wait of half a minute
		issued, err = issue(prepaid.IssueParams{Account: account, ProgramClientID: "acme", Again: true})
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(issued.Account.ID != "", issued.Created, len(srv.AccountIDs()))
	// Output: true false 1
}
