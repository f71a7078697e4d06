// Package closures sends payments again from literals.
package closures

import (
	"context"
	"errors"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cenkalti/backoff/v4"
	seth "github.com/sethvargo/go-retry"
)

type order struct {
	ID       string
	From, To prepaid.AccountID
	Amount   prepaid.Amount
}

type payer struct {
	client *prepaid.Client
	float  prepaid.AccountID
	tries  int
}

func library(ctx context.Context, c *prepaid.Client, o order) error {
	return backoff.Retry(func() error {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
		return err
	}, backoff.NewExponentialBackOff())
}

func withData(ctx context.Context, c *prepaid.Client, o order) (*prepaid.TransferResult, error) {
	params := prepaid.TransferParams{Amount: o.Amount, DestinationAccountID: o.To}
	return retry.DoWithData(func() (*prepaid.TransferResult, error) {
		params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
		return c.Accounts.Transfer(ctx, o.From, params)
	}, retry.Attempts(5))
}

func retryable(ctx context.Context, b seth.Backoff, c *prepaid.Client, o order) error {
	return seth.Do(ctx, b, func(ctx context.Context) error {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
		if err != nil {
			return seth.RetryableError(err)
		}
		return nil
	})
}

// A helper of the package.
func (p *payer) retry(ctx context.Context, what string, f func() error) error {
	var err error
	for n := 0; n < p.tries; n++ {
		if err = f(); err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(err, ctx.Err())
		case <-time.After(time.Duration(n) * time.Second):
		}
	}
	return err
}

func (p *payer) load(ctx context.Context, to prepaid.AccountID, amount prepaid.Amount) (result *prepaid.TransferResult, err error) {
	err = p.retry(ctx, "load", func() (err error) {
		result, err = p.client.Accounts.Transfer(ctx, p.float, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: amount, DestinationAccountID: to, // want `sent again under a new request ID`
		})
		return err
	})
	return result, err
}

func (p *payer) method(ctx context.Context, o order) error {
	send := func() error { return p.send(ctx, o) } // want `payer.send makes a new request ID each time`
	return p.retry(ctx, "send", send)
}

func (p *payer) send(ctx context.Context, o order) error {
	params := p.params(o)
	_, err := p.client.Accounts.Transfer(ctx, p.float, params)
	return err
}

func (p *payer) params(o order) prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
}

// The literal is called twice.
func twice(ctx context.Context, c *prepaid.Client, o order) error {
	pay := func() error {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		return err
	}
	if err := pay(); err != nil {
		return pay() // want `the function literal makes a new request ID`
	}
	return nil
}

// Of a generic helper.
func again[T any](f func() (T, error)) (T, error) {
	v, err := f()
	for range 2 {
		if err == nil {
			break
		}
		v, err = f()
	}
	return v, err
}

func generic(ctx context.Context, c *prepaid.Client, o order) (*prepaid.TransferResult, error) {
	return again(func() (*prepaid.TransferResult, error) {
		return c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
	})
}

// Through an interface, and a journal.
type sender interface {
	Transfer(context.Context, prepaid.AccountID, prepaid.TransferParams) (*prepaid.TransferResult, error)
}

func through(ctx context.Context, s sender, o order) error {
	for {
		result, err := s.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
		if result != nil {
			return nil
		}
		time.Sleep(time.Second)
		_ = err
	}
}

func method(ctx context.Context, c *prepaid.Client, o order) (err error) {
	pay := c.Accounts.Transfer
	for range 3 {
		if _, err = pay(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		}); err == nil {
			return nil
		}
	}
	return err
}

func journaled(ctx context.Context, j *journalfile.Journal, c *prepaid.Client, o order) (err error) {
	for range 3 {
		if _, err = j.Transfer(ctx, c.Accounts, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		}); err == nil {
			return nil
		}
	}
	return err
}

// The ID is made once.
func right(ctx context.Context, c *prepaid.Client, o order) error {
	params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
	return backoff.Retry(func() error {
		_, err := c.Accounts.Transfer(ctx, o.From, params)
		return err
	}, backoff.NewExponentialBackOff())
}

// What is unknown is not repeated.
func permanent(ctx context.Context, c *prepaid.Client, o order) error {
	return backoff.Retry(func() error {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown {
			return backoff.Permanent(err)
		}
		return err
	}, backoff.NewExponentialBackOff())
}

func onlyMarked(ctx context.Context, b seth.Backoff, c *prepaid.Client, o order) error {
	return seth.Do(ctx, b, func(ctx context.Context) error {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
		})
		if prepaid.OutcomeOf(err) == prepaid.OutcomeRejected {
			return seth.RetryableError(err)
		}
		return err
	})
}
