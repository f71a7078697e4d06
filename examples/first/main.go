// First makes a transfer on the emulator: the shortest complete program.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	flag.Parse() // only for -h: there are no flags
	if err := run(os.Stdout); err != nil {
		log.Fatal(err) // log.Fatal skips deferred calls: main has none
	}
}

func run(out io.Writer) error {
	srv, err := prepaidtest.Start(prepaidtest.Options{}) // an emulator on loopback
	if err != nil {
		return err
	}
	defer func() { _ = srv.Close() }()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	return pay(context.Background(), srv.Client(), from, to, out) // for the real service: prepaid.ConfigFromEnv, prepaid.NewClient
}

func pay(ctx context.Context, client *prepaid.Client, from, to prepaid.AccountID, out io.Writer) error {
	result, err := client.Accounts.Transfer(ctx, from, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	})
	if err != nil {
		return err // prepaid.OutcomeOf(err) reports what happened to the money
	}
	if _, err := fmt.Fprintln(out, "transaction", result.TransactionID); err != nil {
		return err
	}
	account, err := client.Accounts.Get(ctx, to)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintln(out, "balance", account.Balance)
	return err
}
