// Package find has calls whose request IDs come from somewhere.
package find

import (
	"context"

	"github.com/cardprograms/prepaid"
)

type order struct{ params prepaid.TransferParams }

type sends func(context.Context, prepaid.TransferParams) (*prepaid.TransferResult, error)

type store interface {
	Save(context.Context, prepaid.TransferParams) error
	Send(context.Context, *prepaid.TransferParams) error
}

func keys(ctx context.Context, client *prepaid.Client, id prepaid.RequestID, name string, o order, again bool) {
	params := prepaid.TransferParams{RequestID: id}
	client.Accounts.Transfer(ctx, "a", params) // want `^Accounts.Transfer of kind 1, wrapper false, keys id$`

	fresh := prepaid.TransferParams{RequestID: "constant"}
	if again {
		fresh.RequestID = prepaid.NewRequestID()
	}
	client.Accounts.Transfer(ctx, "a", fresh) // want `keys "constant" or NewRequestID\(\)$`

	converted := prepaid.RequestID(name)
	client.Accounts.DirectEntryOut(ctx, "a", prepaid.DirectEntryOutParams{RequestID: converted}) // want `keys name$`

	o.params.RequestID = prepaid.DeriveRequestID(prepaid.Date{}, name)
	client.Accounts.Transfer(ctx, "a", o.params) // want `keys o or DeriveRequestID\(\)$`

	func() {
		client.Accounts.Transfer(ctx, "a", params) // want `keys id$`
	}()
	client.Funding.Refund(ctx, prepaid.RefundFundingParams{}) // want `Funding.Refund of kind 2, wrapper false, keys $`
	client.Accounts.Summary(ctx, "a")
}

func through(ctx context.Context, s store, send sends, params prepaid.TransferParams) {
	send(ctx, params)    // want `a function value of kind 1, wrapper false, keys params`
	s.Send(ctx, &params) // want `store.Send of kind 1, wrapper false, keys params`
	s.Save(ctx, params)
	pay(ctx, send, params) // want `^pay of kind 1, wrapper true, keys params$`
}

type payments struct{ send sends }

func (p *payments) pay(ctx context.Context, params prepaid.TransferParams) error {
	return pay(ctx, p.send, params) // want `^pay of kind 1, wrapper true, keys params$`
}

func value(ctx context.Context, p *payments, params prepaid.TransferParams) error {
	once := p.pay
	return once(ctx, params) // want `^payments.pay of kind 1, wrapper true, keys params$`
}

func pay(ctx context.Context, send sends, params prepaid.TransferParams) error {
	_, err := send(ctx, params) // want `keys params`
	return err
}

var _ = func(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) {
	client.Accounts.Transfer(ctx, "a", params) // want `keys params`
}

func init() {
	client.Accounts.Transfer(context.Background(), "a", prepaid.TransferParams{}) // want `keys zero`
}

var client *prepaid.Client
