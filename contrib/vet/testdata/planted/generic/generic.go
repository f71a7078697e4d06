// Package generic: generic helpers.
package generic

import (
	"context"
	"log"

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

// Must panics with the error, which says what is known.
func Must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func GoodMust(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) *prepaid.TransferResult {
	return Must(c.Accounts.Transfer(ctx, "EA1", p))
}

// Pay pays over anything that transfers.
func Pay[S interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
}](ctx context.Context, s S, p prepaid.TransferParams) error {
	_, err := s.Transfer(ctx, "EA1", p)
	return err
}

func BadGenericPay(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) {
	if err := Pay(ctx, c.Accounts, p); err != nil { // want: outcome
		log.Println("not paid")
	}
}

func GoodGenericPay(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) {
	if err := Pay(ctx, c.Accounts, p); err != nil {
		log.Println("not paid", err)
	}
}
