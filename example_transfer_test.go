package prepaid_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// To resolve an unknown outcome, send the same params again within three weeks. Store them before the first call: a new
// request ID would be a second payment.
func ExampleAccountsService_Transfer_unknown() {
	srv, client, ctx := service()
	defer srv.Close()
	from, to := seed(srv, "100.00"), seed(srv, "0")

	stored, err := json.Marshal(invoice(to, "25.50"))
	check(err)
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(500, "server_error"))
	for range 2 { // the second time may be after a restart
		var params prepaid.TransferParams
		check(json.Unmarshal(stored, &params))
		_, err := client.Accounts.Transfer(ctx, from, params)
		fmt.Println(prepaid.OutcomeOf(err), srv.Balance(to)) // "unknown 0.00", then "applied 25.50"
	}
}

// The operator has added purpose_code to transfers, and this version has no field for it yet. Extra is part of the payment: stored with the
// other params, and sent with each attempt. It never replaces a member.
func ExampleExtraMembers() {
	srv := emulator(prepaidtest.Options{Lenient: true}) // otherwise the emulator refuses members that the reference does not have
	defer srv.Close()
	client, ctx, from, to := srv.Client(), context.Background(), seed(srv, "100.00"), seed(srv, "0")

	params := invoice(to, "25.50")
	params.Extra = `{"purpose_code":"SALA"}`
	_, err := client.Accounts.Transfer(ctx, from, params)
	fmt.Println(prepaid.OutcomeOf(err))
	for _, sent := range srv.Requests() {
		if _, members, ok := strings.Cut(sent.Body, `"transaction_type":`); ok {
			fmt.Println("transaction_type: " + members)
		}
	}
	params.Extra = `{"purpose_code":"PENS"}`
	_, err = client.Accounts.Transfer(ctx, from, params)
	fmt.Println(errors.Is(err, prepaid.ErrRequestIDReused))
	params.Extra = `{"Amount":1}`
	_, err = client.Accounts.Transfer(ctx, from, params)
	fmt.Println(err)
	// Output:
	// applied
	// transaction_type: 0,"purpose_code":"SALA"}
	// true
	// prepaid: Accounts.Transfer: rejected: invalid input: extra.amount is a member of the request already
}

// The service gives no reason for a transfer that failed. The accounts as they are now may show one.
func ExampleAccountsService_DiagnoseTransfer() {
	srv, client, ctx := service()
	defer srv.Close()
	from, to := seed(srv, "10.00"), seed(srv, "0")

	params := invoice(to, "25.50")
	_, err := client.Accounts.Transfer(ctx, from, params)
	if errors.Is(err, prepaid.ErrTransferFailed) {
		payer, receiver, err := client.Accounts.DiagnoseTransfer(ctx, from, params)
		check(err)
		fmt.Println(payer.Status, receiver.Status)
		fmt.Println("too little money:", payer.Balance.Compare(params.Amount) < 0)
	}
	// Output:
	// active active
	// too little money: true
}

// A payment to a bank account is as safe to repeat as a transfer: sending the same params twice pays once.
func ExampleAccountsService_DirectEntryOut() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	params := prepaid.DirectEntryOutParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("40.00"),
		SourceReference: "cash out", DestinationReference: "card 7",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "Ada Lovelace"},
		BSB:         "062000", // ask the operator for the number
	}
	var first prepaid.TransactionID
	for range 2 {
		result, err := client.Accounts.DirectEntryOut(context.Background(), id, params)
		if err != nil {
			fmt.Println(err, prepaid.OutcomeOf(err))
			return
		}
		fmt.Println(result.TransactionID == first, srv.Balance(id))
		first = result.TransactionID
	}
	// Output:
	// false 60.00
	// true 60.00
}

// order is a row of your database. Its day is stored with it, so that a retry after midnight has the same request IDs.
type order struct {
	Number string
	Day    prepaid.Date
}

func takeOrder(number string) order { return order{Number: number, Day: prepaid.DateOf(time.Now())} }

// A payroll run that can be killed and restarted at any time: the request IDs are derived from the payments, so that
// no payment is made twice and no journal is needed.
func ExampleAccountsService_Transfer() {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	client, float := srv.Client(), seed(srv, "1000.00")
	staff := []prepaid.AccountID{seed(srv, "0"), seed(srv, "0"), seed(srv, "0")}
	payroll := takeOrder("payroll-2026-11")

	run := func(ctx context.Context) (paid int) {
		for _, employee := range staff {
			_, err := client.Accounts.Transfer(ctx, float, prepaid.TransferParams{
				RequestID:            prepaid.DeriveRequestID(payroll.Day, payroll.Number, string(employee)),
				Amount:               prepaid.Cents(25000),
				SourceReference:      "PAYROLL 2026-11",
				DestinationReference: "SALARY",
				DestinationAccountID: employee,
				Type:                 prepaid.TransferTypeLoad,
			})
			switch prepaid.OutcomeOf(err) {
			case prepaid.OutcomeApplied:
				paid++
			case prepaid.OutcomeRejected:
				fmt.Println("for review:", err)
			case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown: // send it again in both cases
				fmt.Println("next run:", prepaid.OutcomeOf(err))
			}
		}
		return paid
	}
	srv.Inject("POST /token", prepaidtest.Respond(503, "unavailable").Times(4))
	fmt.Println(run(context.Background()), "paid")
	fmt.Println(run(context.Background()), "paid")
	fmt.Println("left on the float:", srv.Balance(float))
	// Output:
	// next run: not_processed
	// 2 paid
	// 3 paid
	// left on the float: 250.00
}

// A refund has no request ID: after a lost response, look in the history and never send it again blindly.
func ExampleAccountsService_FindMovement() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	refund := func(ctx context.Context, params prepaid.RefundFundingParams) (prepaid.TransactionID, error) {
		began := time.Now()
		result, err := client.Funding.Refund(ctx, params)
		switch {
		case err == nil && result.Approved():
			return result.TransactionID, nil
		case err == nil:
			return "", errors.New("declined")
		case prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown:
			return "", err // nothing moved
		}
		finding, lookErr := client.Accounts.FindMovement(context.WithoutCancel(ctx), prepaid.FindMovementParams{
			AccountID: params.AccountID, Amount: params.Amount, TerminalID: params.TerminalID,
		}.Between(began, time.Now()))
		if lookErr != nil { // ErrNotSeen and ErrAmbiguous too: for review
			return "", errors.Join(err, lookErr)
		}
		return finding.Transactions[0].ID, nil
	}
	srv.Inject("POST /funding/refunds", prepaidtest.CommitThenDrop())
	transaction, err := refund(context.Background(), prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount("12.30"), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001,
		Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	})
	fmt.Println(transaction != "", err, srv.Balance(id))
	// Output: true <nil> 112.30
}

// IDs derived from a payment are the same on every machine and after every crash.
func ExampleDeriveRequestID() {
	payday := prepaid.Date{Year: 2026, Month: time.November, Day: 20}
	fmt.Println(prepaid.DeriveRequestID(payday, "payroll-2026-11", "emp-7"))
	fmt.Println(prepaid.DeriveRequestID(payday, "payroll-2026-11", "emp-8"))
	// Output:
	// 20261120-7064-8984-96cd-003f306b64be
	// 20261120-7064-82f6-a3cb-bf53b7325c53
}

// Wait before you claim a payment of unknown outcome, so that the lease covers only the call.
func ExampleAccountsService_AwaitRepeat() {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	client, float := srv.Client(), seed(srv, "1000.00")

	lockTaken := time.Now().Add(-time.Hour)
	if err := client.Accounts.AwaitRepeat(context.Background(), float, lockTaken); err != nil {
		fmt.Println(err) // the service does not respond: try again later
		return
	}
	fmt.Println("send it again")
	// Output: send it again
}
