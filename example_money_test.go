package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A payroll run that can be killed and started again at any time: the request ids come from what is paid, so that
// nobody is paid twice, and no journal is needed.
func ExampleAccountsService_Transfer() {
	srv := emulator()
	defer srv.Close()
	client, float := srv.Client(), seed(srv, "1000.00")
	staff := []prepaid.AccountID{seed(srv, "0"), seed(srv, "0"), seed(srv, "0")}
	payday := time.Now() // once, when the order is made: a program stores it with the order

	run := func(ctx context.Context) (paid int) {
		for _, employee := range staff {
			_, err := client.Accounts.Transfer(ctx, float, prepaid.TransferParams{
				RequestID:            prepaid.DeriveRequestID(payday, "payroll-2026-11", string(employee)),
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
			case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown: // sending it again is right in both
				fmt.Println("next run:", prepaid.OutcomeOf(err))
			}
		}
		return paid
	}
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop(), prepaidtest.Answer(500, "server_error"))
	fmt.Println(run(context.Background()), "paid")
	fmt.Println(run(context.Background()), "paid")
	fmt.Println("left on the float:", srv.Balance(string(float)))
	// Output:
	// next run: outcome unknown
	// 2 paid
	// 3 paid
	// left on the float: 250.00
}

// A refund has no request id: after a lost answer, look in the history and never send it again blindly.
func ExampleAccountsService_FindMovement() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	refund := func(ctx context.Context, params prepaid.RefundFundingParams) (prepaid.TransactionID, error) {
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
		}.Around(err))
		if lookErr != nil {
			return "", errors.Join(err, lookErr)
		}
		if finding.Verdict != prepaid.VerdictSeen {
			return "", fmt.Errorf("for review, %s: %w", finding.Verdict, err)
		}
		return finding.Transactions[0].ID, nil
	}
	srv.Inject("POST /funding/refunds", prepaidtest.CommitThenDrop())
	transaction, err := refund(context.Background(), prepaid.RefundFundingParams{
		Amount: prepaid.MustAmount("12.30"), AccountID: id, MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: new(int64(900001)),
		Currency: "036", CardAcceptorID: "QUICKMART", CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	})
	fmt.Println(transaction != "", err, srv.Balance(string(id)))
	// Output: true <nil> 112.30
}

// A decline is a result, not an error.
func ExampleFundingService_Redeem() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	for _, amount := range []string{"60.00", "60.00"} {
		result, err := client.Funding.Redeem(context.Background(), prepaid.RedeemFundingParams{
			Amount: prepaid.MustAmount(amount), AccountID: id, Exception: prepaid.FundingExceptionNone,
			MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: new(int64(900001)), Currency: "036", CardAcceptorID: "QUICKMART",
			CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Outcome, result.Approved(), srv.Balance(string(id)))
	}
	// Output:
	// approved true 40.00
	// declined false 40.00
}

// The simulator makes card activity in the test environment. Leave 30 to 90 seconds between related calls there.
func ExampleSimulationService_Transact() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	for _, amount := range []string{"30.00", "300.00"} {
		result, err := client.Simulation.Transact(context.Background(), prepaid.SimulateParams{
			Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount(amount),
			AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(result.Success, result.Message, srv.Balance(string(id)))
	}
	// Output:
	// true Approved 70.00
	// false Insufficient funds 70.00
}

// Ids derived from what is paid are the same on every machine and after every crash.
func ExampleDeriveRequestID() {
	payday := time.Date(2026, time.November, 20, 0, 0, 0, 0, time.UTC)
	fmt.Println(prepaid.DeriveRequestID(payday, "payroll-2026-11", "emp-7"))
	fmt.Println(prepaid.DeriveRequestID(payday, "payroll-2026-11", "emp-8"))
	// Output:
	// 01a1f640-bc00-7984-96cd-003f306b64be
	// 01a1f640-bc00-72f6-a3cb-bf53b7325c53
}
