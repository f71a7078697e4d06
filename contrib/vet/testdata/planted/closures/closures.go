// Package closures: closures and local helpers.
package closures

import (
	"context"
	"log"
	"time"

	"github.com/cardprograms/prepaid"
)

func BadClosure(ctx context.Context, c *prepaid.Client, amount prepaid.Amount) error {
	send := func() error {
		_, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: amount, DestinationAccountID: "EA2",
		})
		return err
	}
	if err := send(); err != nil {
		log.Print(err)
		return send() // want: requestid
	}
	return nil
}

func GoodClosure(ctx context.Context, c *prepaid.Client, amount prepaid.Amount) error {
	id := prepaid.NewRequestID()
	send := func() error {
		_, err := c.Accounts.Transfer(ctx, "EA1", prepaid.TransferParams{
			RequestID: id, Amount: amount, DestinationAccountID: "EA2",
		})
		return err
	}
	if err := send(); err != nil {
		log.Print(err)
		return send()
	}
	return nil
}

// withRetry is the helper that each company has.
func withRetry(n int, f func() error) (err error) {
	for i := 0; i < n; i++ {
		if err = f(); err == nil {
			break
		}
		time.Sleep(time.Second)
	}
	return err
}

func BadOwnRetry(ctx context.Context, c *prepaid.Client, amount prepaid.Amount) error {
	return withRetry(3, func() error { // want: retry
		p := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: amount} // want: requestid
		_, err := c.Accounts.Transfer(ctx, "EA1", p)
		return err
	})
}

func BadOwnRetryFunding(ctx context.Context, c *prepaid.Client, p prepaid.RefundFundingParams) (res *prepaid.FundingResult, err error) {
	err = withRetry(3, func() error { // want: retry
		res, err = c.Funding.Refund(ctx, p)
		return err
	})
	return res, err
}

func timed(name string, f func() error) error {
	start := time.Now()
	err := f()
	log.Println(name, time.Since(start), err)
	return err
}

func GoodTimed(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) error {
	return timed("transfer", func() error {
		p.RequestID = prepaid.NewRequestID()
		_, err := c.Accounts.Transfer(ctx, "EA1", p)
		return err
	})
}

func BadCaptured(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) bool {
	var err error
	run := func() { _, err = c.Accounts.Transfer(ctx, "EA1", p) } // want: outcome
	run()
	return err == nil
}

func GoodCaptured(ctx context.Context, c *prepaid.Client, p prepaid.TransferParams) error {
	var err error
	run := func() { _, err = c.Accounts.Transfer(ctx, "EA1", p) }
	run()
	return err
}
