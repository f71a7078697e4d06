package prepaidtest_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A transfer is running although its response was lost: a repeat now would move the money twice.
func ExampleServer_RunningTransfers() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.ProxyPage(502).CommitAfter(time.Hour))

	config := srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	_, err = client.Accounts.Transfer(context.Background(), from, prepaid.TransferParams{
		RequestID: "payout-7", Amount: prepaid.Cents(2550), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
	})
	fmt.Println(prepaid.OutcomeOf(err), srv.Movements("payout-7"))
	for _, running := range srv.RunningTransfers() {
		fmt.Println(running.RequestID, running.Amount)
	}
	// Output:
	// unknown 0
	// payout-7 25.50
}

// A payment is refused, accepted and sent again: the log shows that the last request moved no money.
func ExampleServer_Requests() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Respond(429, ""))

	client := srv.Client()
	for range 2 {
		if _, err := client.Accounts.Transfer(context.Background(), from, prepaid.TransferParams{
			RequestID: "payout-8", Amount: prepaid.Cents(4000), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
		}); err != nil {
			fmt.Println(err)
		}
	}
	for _, r := range srv.Requests() {
		if r.RequestID == "payout-8" {
			fmt.Println(r.Status, r.Amount, r.AccountBalance, r.FaultForm, r.RepeatOf > 0, r.Replayed)
		}
	}
	// Output:
	// 429 40.00 100.00 respond 429 false false
	// 200 40.00 100.00  true false
	// 200 40.00 60.00  true true
}
