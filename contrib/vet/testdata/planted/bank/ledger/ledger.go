// Package ledger is the lower wrapper.
package ledger

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
)

type Ledger struct {
	client *prepaid.Client
	source prepaid.AccountID
}

// Move pays under the ID that it is given.
func (l *Ledger) Move(ctx context.Context, id prepaid.RequestID, to prepaid.AccountID, amount prepaid.Amount) error {
	_, err := l.client.Accounts.Transfer(ctx, l.source, prepaid.TransferParams{RequestID: id, DestinationAccountID: to, Amount: amount})
	if err != nil {
		return fmt.Errorf("move %s: %w", id, err)
	}
	return nil
}

// MoveNew makes the ID.
func (l *Ledger) MoveNew(ctx context.Context, to prepaid.AccountID, amount prepaid.Amount) (string, error) {
	result, err := l.client.Accounts.Transfer(ctx, l.source, prepaid.TransferParams{RequestID: prepaid.NewRequestID(), DestinationAccountID: to, Amount: amount})
	if err != nil {
		return "", err
	}
	return string(result.TransactionID), nil
}

// Redeem passes the result on.
func (l *Ledger) Redeem(ctx context.Context, p prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return l.client.Funding.Redeem(ctx, p)
}

// History passes the list on.
func (l *Ledger) History(ctx context.Context) func(func(*prepaid.Transaction, error) bool) {
	return l.client.Accounts.Transactions(ctx, l.source, prepaid.ListTransactionsParams{})
}
