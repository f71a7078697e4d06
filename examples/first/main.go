// First pays an invoice once, on the emulator: the shortest complete program.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	if err := run(); err != nil {
		log.Fatal(err)
	}
}

func run() (err error) {
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
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute) // after a lost response the client waits 40 s
	defer cancel()
	day := prepaid.DateOf(time.Now().UTC()) // of the invoice, not of this run
	err = pay(ctx, srv.Client(), payments, from, invoice("7", day, to))
	fmt.Println("balance", srv.Balance(to))
	return err
}

func invoice(number string, day prepaid.Date, to prepaid.AccountID) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(day, "invoice", number), // day is stored with the invoice: each run makes the same ID
		Amount:    prepaid.MustAmount("25.50"), DestinationAccountID: to,
		SourceReference: "invoice " + number, DestinationReference: "invoice " + number,
	}
}

// pay pays once, however often it is called with the same params.
func pay(ctx context.Context, client *prepaid.Client, payments *journalfile.Journal, from prepaid.AccountID, params prepaid.TransferParams) error {
	_, err := payments.Transfer(ctx, client.Accounts, from, params) // stores the request ID, then sends
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		fmt.Println("paid") // even if err is not nil
		return err
	case prepaid.OutcomeRejected:
		return fmt.Errorf("no money moved; fix the cause: %w", err)
	case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
	}
	return fmt.Errorf("the money may have moved; call pay again with the same params: %w", err)
}
