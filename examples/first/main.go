// First is the program of the README: a transfer on the emulator.
package main

import (
	"context"
	"fmt"
	"log"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	srv, err := prepaidtest.Start() // an emulator on loopback
	if err != nil {
		log.Fatal(err)
	}
	from := prepaid.AccountID(srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}))
	to := prepaid.AccountID(srv.AddAccount(prepaidtest.SeedAccount{}))

	ctx, client := context.Background(), srv.Client() // the real service: prepaid.ConfigFromEnv, prepaid.NewClient
	result, err := client.Accounts.Transfer(ctx, from, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	})
	if err != nil {
		log.Fatal(prepaid.OutcomeOf(err), ": ", err)
	}
	account, err := client.Accounts.Get(ctx, to)
	fmt.Println(result.TransactionID, account.Balance, err)
}
