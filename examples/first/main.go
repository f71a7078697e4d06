// First pays an invoice once, on the emulator: the shortest complete program.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{}) // for the real service: prepaid.ConfigFromEnv, prepaid.NewClient
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	directory, err := os.MkdirTemp("", "first") // keep the journal of real payments
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(directory)) }()
	payments, err := journalfile.Open(filepath.Join(directory, "payments"), journalfile.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, payments.Close()) }()
	return pay(ctx, srv.Client(), payments, from, invoice(prepaid.DateOf(time.Now()), to))
}

// invoice returns the payment of invoice 7. Its request ID depends only on the invoice and its day.
func invoice(day prepaid.Date, to prepaid.AccountID) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(day, "invoice", "7"), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}
}

// pay pays once, however often the program runs: the journal stores the request ID before it sends.
func pay(ctx context.Context, client *prepaid.Client, payments *journalfile.Journal, from prepaid.AccountID, params prepaid.TransferParams) error {
	result, err := payments.Transfer(ctx, client.Accounts, from, params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
	case prepaid.OutcomeRejected:
		return fmt.Errorf("refused, no money moved: %w", err)
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
		return fmt.Errorf("run the program again: %w", err)
	}
	if err != nil { // the money moved, but the result is lost or not recorded
		return err
	}
	account, err := client.Accounts.Get(ctx, params.DestinationAccountID)
	if err != nil {
		return err
	}
	fmt.Printf("transaction %s\nbalance %s\n", result.TransactionID, account.Balance)
	return nil
}
