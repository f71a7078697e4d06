// Package dropped takes a nil error for an approval.
package dropped

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
)

type funder interface {
	Refund(context.Context, prepaid.RefundFundingParams) (*prepaid.FundingResult, error)
}

func redeem(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	_, err := client.Funding.Redeem(ctx, params) // want `the result of Funding.Redeem is dropped: a nil error is no approval.*#funding$`
	return err
}

func refund(ctx context.Context, f funder, params prepaid.RefundFundingParams) error {
	if _, err := f.Refund(ctx, params); err != nil { // want `the result of funder.Refund is dropped`
		return fmt.Errorf("refund: %w", err)
	}
	return nil
}

func noted(ctx context.Context, client *prepaid.Client, params prepaid.ReverseFundingParams) (prepaid.TransactionID, error) {
	result, err := client.Funding.Reverse(ctx, params) // want `the result of Funding.Reverse is never asked for its outcome`
	if err != nil {
		return "", err
	}
	return result.TransactionID, nil
}

func compared(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (bool, error) {
	result, err := client.Funding.Redeem(ctx, params) // want `never asked`
	return result != nil, err
}

func wrapper(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	return client.Funding.Redeem(ctx, params)
}

func wrapped(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	_, err := wrapper(ctx, client, params) // want `the result of wrapper is dropped`
	return err
}

func captured(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (err error) {
	func() {
		_, err = client.Funding.Redeem(ctx, params) // want `dropped`
	}()
	return err
}

func suppressed(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	_, err := client.Funding.Redeem(ctx, params) //prepaidvet:ignore funding the simulator approves everything
	return err
}
