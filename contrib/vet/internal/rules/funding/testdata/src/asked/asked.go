// Package asked has what must not be reported.
package asked

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
)

var errDeclined = errors.New("declined")

func method(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	result, err := client.Funding.Redeem(ctx, params)
	if err != nil {
		return err
	}
	if !result.Approved() {
		return errDeclined
	}
	return nil
}

func field(ctx context.Context, client *prepaid.Client, params prepaid.RefundFundingParams) error {
	result, err := client.Funding.Refund(ctx, params)
	switch {
	case err != nil:
		return err
	case result.Outcome == prepaid.FundingOutcomeDeclined:
		return errDeclined
	}
	return nil
}

func returned(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (*prepaid.FundingResult, error) {
	result, err := client.Funding.Redeem(ctx, params)
	if err != nil {
		return nil, fmt.Errorf("redeem: %w", err)
	}
	return result, nil
}

func copied(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (prepaid.FundingResult, error) {
	result, err := client.Funding.Redeem(ctx, params)
	if err != nil {
		return prepaid.FundingResult{}, err
	}
	return *result, nil
}

func passed(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) error {
	result, err := client.Funding.Redeem(ctx, params)
	return errors.Join(err, check(result))
}

func check(result *prepaid.FundingResult) error {
	if result == nil || result.Approved() {
		return nil
	}
	return errDeclined
}

func captured(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (bool, error) {
	var result *prepaid.FundingResult
	var err error
	func() { result, err = client.Funding.Redeem(ctx, params) }()
	return result.Approved(), err
}

func either(ctx context.Context, client *prepaid.Client, back bool) (bool, error) {
	var result *prepaid.FundingResult
	var err error
	if back {
		result, err = client.Funding.Refund(ctx, prepaid.RefundFundingParams{})
	} else {
		result, err = client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{})
	}
	if err != nil {
		return false, err
	}
	return result.Approved(), nil
}

// Without its error, it is the rule outcome that reports it.
func neither(ctx context.Context, client *prepaid.Client) {
	client.Funding.Redeem(ctx, prepaid.RedeemFundingParams{})
}

// A transfer has nothing to ask.
func transfer(ctx context.Context, client *prepaid.Client, params prepaid.TransferParams) error {
	_, err := client.Accounts.Transfer(ctx, "a", params)
	return err
}

func deferred(ctx context.Context, client *prepaid.Client, params prepaid.RedeemFundingParams) (err error) {
	var result *prepaid.FundingResult
	defer func() {
		if err == nil && !result.Approved() {
			err = errDeclined
		}
	}()
	result, err = client.Funding.Redeem(ctx, params)
	return err
}
