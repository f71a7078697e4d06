// Package loops sends payments again under new request IDs.
package loops

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid"
)

type order struct {
	ID     string
	From   prepaid.AccountID
	To     prepaid.AccountID
	Amount prepaid.Amount
}

// A plain loop.
func plain(ctx context.Context, c *prepaid.Client, from, to prepaid.AccountID, amount prepaid.Amount) error {
	var err error
	for attempt := 0; attempt < 3; attempt++ {
		_, err = c.Accounts.Transfer(ctx, from, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), // want `sent again under a new request ID`
			Amount:    amount, DestinationAccountID: to, SourceReference: "x", DestinationReference: "x",
		})
		if err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

// With a backoff, a log, and a local variable.
func backoff(ctx context.Context, c *prepaid.Client, o order) (*prepaid.TransferResult, error) {
	wait := time.Second
	for attempt := range 5 {
		id := prepaid.NewRequestID() // want `sent again under a new request ID`
		params := prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To}
		params.SourceReference = "order " + o.ID
		params.DestinationReference = fmt.Sprintf("attempt %d", attempt)
		result, err := c.Accounts.Transfer(ctx, o.From, params)
		if err != nil {
			slog.Warn("transfer", "attempt", attempt, "id", id, "err", err)
			select {
			case <-ctx.Done():
				return nil, ctx.Err()
			case <-time.After(wait):
			}
			wait *= 2
			continue
		}
		return result, nil
	}
	return nil, errors.New("gave up")
}

// The params are made before, the ID in the loop.
func field(ctx context.Context, c *prepaid.Client, o *order) (err error) {
	params := prepaid.TransferParams{Amount: o.Amount, DestinationAccountID: o.To, SourceReference: o.ID, DestinationReference: o.ID}
	for i := 0; i < 3; i++ {
		params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
		if _, err = c.Accounts.Transfer(ctx, o.From, params); err == nil {
			break
		}
	}
	return err
}

// A condition in the head, a flag.
func flag(ctx context.Context, c *prepaid.Client, o *order) {
	paid := false
	for !paid {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
		paid = err == nil
	}
}

func head(ctx context.Context, c *prepaid.Client, o *order) error {
	err := errors.New("not sent")
	for n := 0; err != nil && n < 4; n++ {
		_, err = c.Accounts.DirectEntryOut(ctx, o.From, prepaid.DirectEntryOutParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "1"}, // want `sent again under a new request ID`
		})
	}
	return err
}

// goto, and a switch.
func jump(ctx context.Context, c *prepaid.Client, o order) error {
again:
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
	})
	if errors.Is(err, context.DeadlineExceeded) {
		goto again
	}
	return err
}

func switched(ctx context.Context, c *prepaid.Client, o order) error {
	for {
		_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
			RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To, // want `sent again under a new request ID`
		})
		switch prepaid.OutcomeOf(err) {
		case prepaid.OutcomeApplied:
			return nil
		case prepaid.OutcomeRejected:
			return err
		case prepaid.OutcomeNotProcessed, prepaid.OutcomeUnknown:
			time.Sleep(time.Second)
		}
	}
}

// The number of the attempt is in the ID.
func counted(ctx context.Context, c *prepaid.Client, day prepaid.Date, o order) (err error) {
	for attempt := 1; attempt <= 3; attempt++ {
		id := prepaid.DeriveRequestID(day, o.ID, strconv.Itoa(attempt))
		if _, err = c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{RequestID: id, Amount: o.Amount, DestinationAccountID: o.To}); err == nil { // want `request ID with the number of the attempt`
			return nil
		}
	}
	return err
}

// Once more, without a loop.
func twice(ctx context.Context, c *prepaid.Client, o order) error {
	params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
	_, err := c.Accounts.Transfer(ctx, o.From, params)
	if err != nil {
		params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
		_, err = c.Accounts.Transfer(ctx, o.From, params)
	}
	return err
}

// It calls itself.
func recursive(ctx context.Context, c *prepaid.Client, o order, left int) error {
	_, err := c.Accounts.Transfer(ctx, o.From, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To,
	})
	if err != nil && left > 0 {
		return recursive(ctx, c, o, left-1) // want `recursive makes a new request ID each time`
	}
	return err
}

// A loop over payments with one over attempts in it.
func inner(ctx context.Context, c *prepaid.Client, orders []order) error {
	for _, o := range orders {
		var err error
		for range 3 {
			params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To} // want `sent again under a new request ID`
			if _, err = c.Accounts.Transfer(ctx, o.From, params); err == nil {
				break
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// No fix: in front of the loop, all orders would have one ID, or the second try another one than the first.
func secondTry(ctx context.Context, c *prepaid.Client, orders []order) error {
	for _, o := range orders {
		params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
		_, err := c.Accounts.Transfer(ctx, o.From, params)
		if err != nil {
			params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
			_, err = c.Accounts.Transfer(ctx, o.From, params)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func jumpBack(ctx context.Context, c *prepaid.Client, orders []order) error {
	for i := 0; i < len(orders); i++ {
		tries := 0
	again:
		params := prepaid.TransferParams{Amount: orders[i].Amount, DestinationAccountID: orders[i].To}
		params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
		_, err := c.Accounts.Transfer(ctx, orders[i].From, params)
		if err != nil && tries < 3 {
			tries++
			goto again
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func firstOutside(ctx context.Context, c *prepaid.Client, o order) error {
	params := prepaid.TransferParams{RequestID: prepaid.NewRequestID(), Amount: o.Amount, DestinationAccountID: o.To}
	_, err := c.Accounts.Transfer(ctx, o.From, params)
	for range 3 {
		if err == nil {
			return nil
		}
		params.RequestID = prepaid.NewRequestID() // want `sent again under a new request ID`
		_, err = c.Accounts.Transfer(ctx, o.From, params)
	}
	return err
}
