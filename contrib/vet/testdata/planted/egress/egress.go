// Package egress sets the client up.
package egress

import (
	"context"
	"errors"
	"time"

	"github.com/cardprograms/prepaid"
)

// Mistake: closure variable called twice.
func redeemClosure(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (bool, error) {
	call := func() (*prepaid.FundingResult, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return c.Funding.Redeem(ctx, p)
	}
	res, err := call() // want: retry
	if errors.Is(err, context.DeadlineExceeded) {
		res, err = call()
	}
	if err != nil {
		return false, err
	}
	return res.Approved(), nil
}

func redeemClosureRight(ctx context.Context, c *prepaid.Client, p prepaid.RedeemFundingParams) (bool, error) {
	call := func() (*prepaid.FundingResult, error) {
		ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
		defer cancel()
		return c.Funding.Redeem(ctx, p)
	}
	res, err := call()
	if prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed {
		res, err = call()
	}
	if err != nil {
		return false, err
	}
	return res.Approved(), nil
}
