package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// emulate pays on an emulator whose clock is a day behind, so that nothing is too early to decide. One payment is not in the journal.
func emulate(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{StartAt: time.Now().AddDate(0, 0, -1)})
	if err != nil {
		return err
	}
	directory, err := os.MkdirTemp("", "reconcile")
	defer func() { err = errors.Join(err, srv.Close(), os.RemoveAll(directory)) }()
	if err != nil {
		return err
	}
	j, err := journalfile.Open(filepath.Join(directory, "payments"), journalfile.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, j.Close()) }()
	float, payee := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	for _, err := range j.PayAll(ctx, srv.Client().Accounts, 1, slices.Values(payments(float, payee))) {
		if err != nil {
			return err
		}
	}
	srv.Adjust(float, "-7.77")
	return compare(ctx, srv.Client(), rows([]*journalfile.Journal{j}))
}

func payments(float, payee prepaid.AccountID) (list []journal.Payment) {
	day := prepaid.DateOf(time.Now())
	for _, key := range []string{"emp-1", "emp-2", "emp-3"} {
		list = append(list, journal.Payment{Account: float, Params: prepaid.TransferParams{
			RequestID: prepaid.DeriveRequestID(day, "payroll", key), Amount: prepaid.MustAmount("12.50"), DestinationAccountID: payee,
			Type: prepaid.TransferTypeLoad, SourceReference: key, DestinationReference: "SALARY",
		}})
	}
	return list
}
