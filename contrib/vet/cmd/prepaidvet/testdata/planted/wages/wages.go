// Package wages pays wages.
package wages

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

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
	Clock  func() time.Time
	IDs    IDs
}

type IDs interface{ Next() prepaid.RequestID }

type randomIDs struct{}

func (randomIDs) Next() prepaid.RequestID { return prepaid.NewRequestID() }

// Mistake: one id for the whole run.

func (r *Run) PayAll(ctx context.Context) error {
	id := prepaid.DeriveRequestID(r.Payday, "wages")
	for _, e := range r.Staff {
		_, err := r.Client.Accounts.Transfer(ctx, r.Float, prepaid.TransferParams{RequestID: id, Amount: e.Wage, // want: requestid
			DestinationAccountID: e.Card, SourceReference: "wage " + e.Number, DestinationReference: "wage"})
		if err != nil {
			return fmt.Errorf("employee %s: %w", e.Number, err)
		}
	}
	return nil
}

// The right form.

func (r *Run) PayAllRight(ctx context.Context) error {
	for _, e := range r.Staff {
		id := prepaid.DeriveRequestID(r.Payday, "wages", e.Number)
		_, err := r.Client.Accounts.Transfer(ctx, r.Float, prepaid.TransferParams{RequestID: id, Amount: e.Wage,
			DestinationAccountID: e.Card, SourceReference: "wage " + e.Number, DestinationReference: "wage"})
		if err != nil {
			return fmt.Errorf("employee %s: %w", e.Number, err)
		}
	}
	return nil
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

// The right form.

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
