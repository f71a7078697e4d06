// Package generic: generic helpers.
package generic

import (
	"context"

	"github.com/cardprograms/prepaid"
)

// Retry is the generic form of the company's helper.
func Retry[T any](ctx context.Context, n int, f func(context.Context) (T, error)) (out T, err error) {
	for range n {
		if out, err = f(ctx); err == nil {
			return out, nil
		}
	}
	return out, err
}

func BadFresh(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return Retry(ctx, 3, func(ctx context.Context) (*prepaid.TransferResult, error) { // want: retry
		p.RequestID = prepaid.NewRequestID() // want: requestid
		return c.Accounts.Transfer(ctx, "EA1", p)
	})
}

func BadRetryCreate(ctx context.Context, c *prepaid.Client, p prepaid.CreateAccountParams) (*prepaid.AccountSummary, error) {
	return Retry(ctx, 3, func(ctx context.Context) (*prepaid.AccountSummary, error) { // want: retry
		return c.Accounts.Create(ctx, p)
	})
}

func GoodRetryRead(ctx context.Context, c *prepaid.Client, id prepaid.AccountID) (*prepaid.Account, error) {
	return Retry(ctx, 3, func(ctx context.Context) (*prepaid.Account, error) {
		return c.Accounts.Get(ctx, id)
	})
}
