// Package concurrent: goroutines and errgroup.
package concurrent

import (
	"context"
	"sync"

	"github.com/cardprograms/prepaid"
)

type Item struct {
	Key    prepaid.RequestID
	To     prepaid.AccountID
	Amount prepaid.Amount
}

func (i Item) params() prepaid.TransferParams {
	return prepaid.TransferParams{RequestID: i.Key, Amount: i.Amount, DestinationAccountID: i.To}
}

func BadGo(ctx context.Context, c *prepaid.Client, items []Item) {
	for _, item := range items {
		go c.Accounts.Transfer(ctx, "EA1", item.params()) // want: outcome
	}
}

func BadGoWait(ctx context.Context, c *prepaid.Client, items []Item) (failed int) {
	var wg sync.WaitGroup
	var mu sync.Mutex
	for _, item := range items {
		wg.Go(func() {
			if _, err := c.Accounts.Transfer(ctx, "EA1", item.params()); err != nil { // want: outcome
				mu.Lock()
				failed++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return failed
}

func GoodGoWait(ctx context.Context, c *prepaid.Client, items []Item) []error {
	var wg sync.WaitGroup
	errs := make([]error, len(items))
	for i, item := range items {
		wg.Go(func() {
			_, errs[i] = c.Accounts.Transfer(ctx, "EA1", item.params())
		})
	}
	wg.Wait()
	return errs
}
