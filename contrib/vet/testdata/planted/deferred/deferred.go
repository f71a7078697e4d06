// Package deferred: defer.
package deferred

import (
	"context"
	"errors"

	"github.com/cardprograms/prepaid"
)

func BadDefer(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams, work func() error) error {
	defer c.Accounts.Transfer(ctx, "EA1", p) // want: outcome
	return work()
}

func BadRelease(ctx context.Context, c *prepaid.Client, p prepaid.ReverseFundingParams, work func() error) (err error) {
	defer func() {
		if err != nil {
			c.Funding.Reverse(ctx, p) // want: outcome
		}
	}()
	return work()
}

func GoodRelease(ctx context.Context, c *prepaid.Client, p prepaid.ReverseFundingParams, work func() error) (err error) {
	defer func() {
		if err != nil {
			r, e := c.Funding.Reverse(ctx, p)
			if e == nil && !r.Approved() {
				e = errors.New("reversal declined")
			}
			err = errors.Join(err, e)
		}
	}()
	return work()
}

func GoodAgain(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) (err error) {
	defer func() {
		if err != nil {
			_, err = c.Accounts.Transfer(ctx, "EA1", p)
		}
	}()
	p.RequestID = prepaid.NewRequestID()
	_, err = c.Accounts.Transfer(ctx, "EA1", p)
	return err
}
