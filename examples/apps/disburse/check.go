package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
)

// check compares the rows with the journal and with the balance, before anything is sent. It refuses changed rows, a journal with payments
// that the file does not have, and a float account with too little money: only some rows would be paid, chosen by chance.
func check(ctx context.Context, s *settings, payments *journalfile.Journal, rows []row) error {
	here := make(map[prepaid.RequestID]bool)
	var left prepaid.Amount
	for _, r := range rows {
		here[r.params.RequestID] = true
		again, err := journal.NewEntry(prepaid.Secret{}, s.float, r.params)
		e, known := payments.Get(r.params.RequestID)
		if err == nil && known {
			err = e.Match(again)
		}
		if err == nil && !mayHaveMoved(e) {
			left, err = left.Add(r.params.Amount)
		}
		if err != nil {
			return fmt.Errorf("%s: %w", r.key, err)
		}
	}
	for e := range payments.All() {
		if mayHaveMoved(e) && !here[e.RequestID] {
			return errors.New("the journal has payments that are not in the file: another -date or file, or rows were removed")
		}
	}
	if err := payments.Err(); err != nil {
		return err
	}
	account, err := s.client.Accounts.Get(ctx, s.float)
	if err == nil && account.Balance.Compare(left) < 0 {
		err = fmt.Errorf("the float account has %s, and %s is left to pay", account.Balance, left)
	}
	return err
}

// mayHaveMoved reports whether the money of a payment may have left the account.
func mayHaveMoved(e journal.Entry) bool {
	return e.State == journal.StateDone || e.State == journal.StateUnknown || e.State == journal.StateIntended
}
