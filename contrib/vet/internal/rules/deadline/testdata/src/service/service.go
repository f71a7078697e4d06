// Package service wraps the client for handlers in other packages.
package service

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

type Payments struct{ Client *prepaid.Client }

func (p *Payments) Pay(ctx context.Context, params prepaid.TransferParams) error { // want Pay:"Accounts.Transfer with the caller's context"
	_, err := p.Client.Accounts.Transfer(ctx, "float", params)
	return err
}

func (p *Payments) Detached(ctx context.Context, params prepaid.TransferParams) error { // want Detached:"Accounts.Transfer without a deadline"
	return p.Pay(context.WithoutCancel(ctx), params)
}

func (p *Payments) Bounded(ctx context.Context, params prepaid.TransferParams) error {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 2*time.Minute)
	defer cancel()
	return p.Pay(ctx, params)
}

func Labelled(ctx context.Context, label string) context.Context { // want Labelled:"a context of origin 0"
	return context.WithValue(ctx, "label", label)
}

func Money(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, time.Minute)
}
