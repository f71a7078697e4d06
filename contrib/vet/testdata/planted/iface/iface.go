// Package iface: interfaces, function values, embedded clients.
package iface

import (
	"context"
	"errors"
	"log"
	"log/slog"

	"github.com/cardprograms/prepaid"
)

type Transferrer interface {
	Transfer(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)
}

func BadIface(ctx context.Context, t Transferrer, p prepaid.TransferParams) {
	_, _ = t.Transfer(ctx, "EA1", p) // want: outcome
}

func GoodIface(ctx context.Context, t Transferrer, p prepaid.TransferParams) {
	if _, err := t.Transfer(ctx, "EA1", p); err != nil {
		slog.Error("transfer", "err", err)
	}
}

type Pay func(ctx context.Context, source prepaid.AccountID, params prepaid.TransferParams) (*prepaid.TransferResult, error)

func BadFunc(ctx context.Context, pay Pay, p prepaid.TransferParams) bool {
	if _, err := pay(ctx, "EA1", p); err != nil { // want: outcome
		return false
	}
	return true
}

func GoodFunc(ctx context.Context, pay Pay, p prepaid.TransferParams) bool {
	_, err := pay(ctx, "EA1", p)
	return errors.Is(err, prepaid.ErrTransferFailed)
}

// Gateway embeds the client.
type Gateway struct {
	*prepaid.Client
	fallback Transferrer
}

func (g *Gateway) BadEmbedded(ctx context.Context, p prepaid.RefundFundingParams) error {
	_, err := g.Funding.Refund(ctx, p) // want: funding
	return err
}

func (g *Gateway) GoodEmbedded(ctx context.Context, p prepaid.RefundFundingParams) error {
	res, err := g.Funding.Refund(ctx, p)
	if err == nil && !res.Approved() {
		err = errors.New("declined")
	}
	return err
}

// The first fails and the second pays under another ID.
func (g *Gateway) BadFallback(ctx context.Context, p prepaid.TransferParams) error {
	p.RequestID = prepaid.NewRequestID()
	_, err := g.Accounts.Transfer(ctx, "EA1", p)
	if err == nil {
		return nil
	}
	log.Println(err)
	p.RequestID = prepaid.NewRequestID() // want: requestid
	_, err = g.fallback.Transfer(ctx, "EA9", p)
	return err
}

func (g *Gateway) GoodFallback(ctx context.Context, p prepaid.TransferParams) error {
	p.RequestID = prepaid.NewRequestID()
	_, err := g.Accounts.Transfer(ctx, "EA1", p)
	if err == nil {
		return nil
	}
	log.Println(err)
	_, err = g.Accounts.Transfer(ctx, "EA1", p)
	return err
}

type history func(context.Context) func(func(*prepaid.Transaction, error) bool)

func (g *Gateway) BadList(ctx context.Context) (last prepaid.TransactionID) {
	var h history = func(ctx context.Context) func(func(*prepaid.Transaction, error) bool) {
		return g.Accounts.Transactions(ctx, "EA1", prepaid.ListTransactionsParams{})
	}
	for t, _ := range h(ctx) { // want: iterator
		last = t.ID
	}
	return last
}
