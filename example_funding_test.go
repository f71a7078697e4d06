package prepaid_test

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Part of a redemption is refunded. ParentTransactionID links the refund to it, so that no more than the redemption can
// be refunded.
func ExampleFundingService_Refund() {
	srv, client, ctx := service()
	defer srv.Close()
	id := seed(srv, "100.00")

	redeemed, err := client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount("60.00"), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, Currency: "036", CardAcceptorID: "QUICKMART",
		CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	})
	if err != nil || !redeemed.Approved() { // a decline is no error
		fmt.Println(redeemed, err)
		return
	}
	for _, amount := range []string{"45.00", "45.00"} {
		refunded, err := client.Funding.Refund(ctx, prepaid.RefundFundingParams{
			Amount: prepaid.MustAmount(amount), AccountID: id, ParentTransactionID: redeemed.TransactionID,
			MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900002, Currency: "036", CardAcceptorID: "QUICKMART",
			CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
		})
		check(err)
		fmt.Println(refunded.Outcome, srv.Balance(id))
	}
	// Output:
	// approved 85.00
	// declined 85.00
}

// A reversal undoes a complete redemption, identified by the transaction ID that it returned.
func ExampleFundingService_Reverse() {
	srv, client, ctx := service()
	defer srv.Close()
	id := seed(srv, "100.00")

	redemption := prepaid.RedeemFundingParams{
		Amount: prepaid.MustAmount("60.00"), AccountID: id, Exception: prepaid.FundingExceptionNone,
		MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, Currency: "036", CardAcceptorID: "QUICKMART",
		CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
	}
	redeemed, err := client.Funding.Redeem(ctx, redemption)
	if err != nil || !redeemed.Approved() {
		fmt.Println("nothing to reverse:", err)
		return
	}
	fmt.Println("redeemed, left:", srv.Balance(id))
	reversed, err := client.Funding.Reverse(ctx, prepaid.ReverseFundingParams{
		AccountID: id, ParentTransactionID: redeemed.TransactionID,
		OriginatingTransaction: redemption.OriginatingTransaction, CorrelationID: redemption.CorrelationID,
	})
	if err != nil {
		fmt.Println(err, prepaid.OutcomeOf(err))
		return
	}
	fmt.Println("reversal", reversed.Outcome+", left:", srv.Balance(id))
	// Output:
	// redeemed, left: 40.00
	// reversal approved, left: 100.00
}

// A decline is a result, not an error.
func ExampleFundingService_Redeem() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")

	for _, amount := range []string{"60.00", "60.00"} {
		result, err := client.Funding.Redeem(context.Background(), prepaid.RedeemFundingParams{
			Amount: prepaid.MustAmount(amount), AccountID: id, Exception: prepaid.FundingExceptionNone,
			MerchantNameLocation: "QUICKMART SYDNEY AU", OriginatingTransaction: 900001, Currency: "036", CardAcceptorID: "QUICKMART",
			CorrelationID: "order-7", MerchantCategoryCode: "5411", TerminalID: "T1", AcquirerID: "1",
		})
		check(err)
		fmt.Println(result.Outcome, result.Approved(), srv.Balance(id))
	}
	// Output:
	// approved true 40.00
	// declined false 40.00
}
