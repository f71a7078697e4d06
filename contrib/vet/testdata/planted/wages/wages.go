// Package wages pays wages.
package wages

import (
	"context"
	"errors"
	"log"

	"github.com/cardprograms/prepaid"
)

type Employee struct {
	Number  string
	Card    prepaid.AccountID
	Wage    prepaid.Amount
	Bank    prepaid.BankAccount
	Request prepaid.RequestID
}

type Run struct {
	Client *prepaid.Client
	Payday prepaid.Date
	Float  prepaid.AccountID
	Staff  []Employee
}

// Mistake: falls back to the bank.
func (r *Run) CardOrBank(ctx context.Context, e Employee) error {
	_, err := r.Client.Accounts.Transfer(ctx, r.Float, prepaid.TransferParams{RequestID: e.Request, Amount: e.Wage,
		DestinationAccountID: e.Card, SourceReference: "wage", DestinationReference: "wage"})
	if err == nil {
		return nil
	}
	log.Printf("card of %s failed (%v), paying to the bank", e.Number, err)
	_, err = r.Client.Accounts.DirectEntryOut(ctx, r.Float, prepaid.DirectEntryOutParams{ // want: outcome
		RequestID: prepaid.DeriveRequestID(r.Payday, "bank", e.Number), Amount: e.Wage,
		Destination: e.Bank, BSB: e.Bank.BSB, SourceReference: "wage", DestinationReference: "wage"})
	return err
}

func (r *Run) CardOrBankRight(ctx context.Context, e Employee) error {
	_, err := r.Client.Accounts.Transfer(ctx, r.Float, prepaid.TransferParams{RequestID: e.Request, Amount: e.Wage,
		DestinationAccountID: e.Card, SourceReference: "wage", DestinationReference: "wage"})
	if prepaid.OutcomeOf(err) != prepaid.OutcomeRejected || errors.Is(err, prepaid.ErrRequestIDReused) {
		return err
	}
	log.Printf("card of %s refused (%v), paying to the bank", e.Number, err)
	_, err = r.Client.Accounts.DirectEntryOut(ctx, r.Float, prepaid.DirectEntryOutParams{
		RequestID: prepaid.DeriveRequestID(r.Payday, "bank", e.Number), Amount: e.Wage,
		Destination: e.Bank, BSB: e.Bank.BSB, SourceReference: "wage", DestinationReference: "wage"})
	return err
}
