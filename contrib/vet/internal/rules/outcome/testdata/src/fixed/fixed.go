// Package fixed has errors that can be returned.
package fixed

import (
	"context"

	"github.com/cardprograms/prepaid"
)

func statement(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	if params.Amount.IsZero() {
		_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	}
	return nil
}

func wrapped(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (err error) {
	_ = send(ctx, client, params) // want `dropped`
	return nil
}

func send(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	return err
}

// A loop would end with the first error, and a function with results needs values for them.
func notFixed(ctx context.Context, client *prepaid.Client, all []prepaid.TransferParams) error {
	for _, params := range all {
		_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	}
	func() {
		_, _ = client.Accounts.Transfer(ctx, "a", all[0]) // want `dropped`
	}()
	go client.Accounts.Transfer(ctx, "a", all[0])           // want `dropped`
	result, _ := client.Accounts.Transfer(ctx, "a", all[0]) // want `dropped`
	_ = result
	return nil
}

func results(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) (int, error) {
	_, _ = client.Accounts.Transfer(ctx, "a", params) // want `dropped`
	return 0, nil
}
