// Package bank is the upper wrapper.
package bank

import (
	"context"
	"log/slog"

	"github.com/cardprograms/prepaid"

	"planted/bank/ledger"
)

type Bank struct{ Ledger *ledger.Ledger }

type Order struct {
	Key    prepaid.RequestID
	To     prepaid.AccountID
	Amount prepaid.Amount
}

func (b *Bank) Pay(ctx context.Context, o Order) error {
	return b.Ledger.Move(ctx, o.Key, o.To, o.Amount)
}

func (b *Bank) PayLogged(ctx context.Context, o Order) error {
	err := b.Pay(ctx, o)
	if err != nil {
		slog.Error("pay", "err", err)
	}
	return err
}

func (b *Bank) PayNew(ctx context.Context, o Order) error {
	_, err := b.Ledger.MoveNew(ctx, o.To, o.Amount)
	return err
}

func (b *Bank) Redeem(ctx context.Context, p prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return b.Ledger.Redeem(ctx, p)
}

func (b *Bank) History(ctx context.Context) func(func(*prepaid.Transaction, error) bool) {
	return b.Ledger.History(ctx)
}

func Key() prepaid.RequestID { return prepaid.NewRequestID() }

// Params makes the same ID each time.
func Params(o Order, day prepaid.Date) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: prepaid.DeriveRequestID(day, "order", string(o.To)), DestinationAccountID: o.To, Amount: o.Amount}
}
