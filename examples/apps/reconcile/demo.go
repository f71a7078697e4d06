package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/reconcile"
)

const (
	demoAccounts = 3
	demoDays     = 28
	demoPayments = 40 // per account and day
)

// item is a transaction in a document for prepaidtest.Server.Load; docs/emulator-seed.md describes the members.
type item struct {
	Type       prepaid.TransactionType `json:"type"`
	Amount     prepaid.Amount          `json:"amount"`
	OccurredAt time.Time               `json:"occurred_at"`
}

// emulate starts an emulator whose accounts have made payments for weeks, and makes books with a few mistakes.
func emulate(now time.Time) (sides, error) {
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return sides{}, err
	}
	begin := now.Truncate(24*time.Hour).AddDate(0, 0, -demoDays)
	history := []item{{prepaid.TransactionTypeLoad, prepaid.Cents(1_000_000_000), begin}}
	for n := range demoDays * demoPayments {
		at := begin.AddDate(0, 0, n/demoPayments).Add(6*time.Hour + time.Duration(n%demoPayments)*time.Minute)
		history = append(history, item{"2951", prepaid.Cents(int64(-demoAmount(n))), at}) // the emulator's code
	}
	var accounts []map[string]any
	for i := range demoAccounts {
		accounts = append(accounts, map[string]any{"account_id": fmt.Sprintf("float-%d", i+1), "transactions": history})
	}
	var document bytes.Buffer
	if err = json.NewEncoder(&document).Encode(map[string]any{"accounts": accounts}); err == nil {
		err = emulator.Load(&document)
	}
	if err != nil {
		return sides{}, errors.Join(err, emulator.Close())
	}
	client, planted := emulator.Client(), map[reconcile.Kind]int{}
	var rows []reconcile.Row
	for _, id := range emulator.AccountIDs() {
		rows = append(rows, mistaken(emulator.Transactions(id)[1:], now, planted)...)
	}
	books := func(yield func(reconcile.Row, error) bool) {
		for _, row := range rows {
			if !yield(row, nil) {
				return
			}
		}
	}
	return sides{books, client, planted, func() error { return errors.Join(client.Close(), emulator.Close()) }}, nil
}

// demoAmount returns the amount of payment n in cents. Only payments 600 and 601 have the same amount.
func demoAmount(n int) int {
	if n == 601 {
		n = 600
	}
	return 1000 + n
}

// mistaken returns rows for the payments of one account, with a mistake of each kind, and counts the expected findings in planted.
func mistaken(payments []prepaidtest.Transaction, now time.Time, planted map[reconcile.Kind]int) (rows []reconcile.Row) {
	for n, t := range payments {
		row := reconcile.Row{
			RequestID: prepaid.RequestID(fmt.Sprintf("%s-%04d", t.AccountID, n)), TransactionID: t.ID, AccountID: t.AccountID,
			Amount: prepaid.Cents(int64(-demoAmount(n))), From: t.OccurredAt, Expected: reconcile.ExpectedPaid,
		}
		kind := reconcile.KindMatched
		switch n {
		case 100: // the books have no row for this payment
			planted[reconcile.KindServiceOnly]++
			continue
		case 200:
			row.Amount, kind = prepaid.Cents(-999), reconcile.KindAmountDiffers
		case 300: // the transaction ID is unknown, but no other payment has this amount
			row.TransactionID = ""
		case 400: // the books have one more payment, which the service does not have
			lost := row
			lost.RequestID, lost.TransactionID, lost.Amount = row.RequestID+"-lost", "", prepaid.Cents(-998)
			rows = append(rows, lost)
			planted[reconcile.KindBooksOnly]++
		case 500:
			rows, kind = append(rows, row), reconcile.KindTwice
			row.RequestID += "-again"
		case 600: // there are two equal payments, and the books have one
			row.TransactionID, kind = "", reconcile.KindAmbiguous
		case 601:
			continue
		}
		rows = append(rows, row)
		planted[kind]++
	}
	last := rows[len(rows)-1]
	last.RequestID, last.TransactionID, last.Expected, last.From = "running", "", reconcile.ExpectedInProgress, now
	planted[reconcile.KindTooEarly]++
	return append(rows, last)
}
