// Package wrapped uses a wrapper of a wrapper.
package wrapped

import (
	"context"
	"errors"
	"fmt"
	"log"

	"github.com/avast/retry-go/v4"
	"github.com/cardprograms/prepaid"

	"planted/bank"
)

func BadDrop(ctx context.Context, b *bank.Bank, o bank.Order) {
	_ = b.Pay(ctx, o) // want: outcome
}

func BadReplace(ctx context.Context, b *bank.Bank, o bank.Order) error {
	if err := b.Pay(ctx, o); err != nil { // want: outcome
		return errors.New("cannot pay")
	}
	return nil
}

func GoodReplace(ctx context.Context, b *bank.Bank, o bank.Order) error {
	if err := b.Pay(ctx, o); err != nil {
		return fmt.Errorf("cannot pay: %w", err)
	}
	return nil
}

func BadLoop(ctx context.Context, b *bank.Bank, o bank.Order) (err error) {
	for range 5 {
		if err = b.PayNew(ctx, o); err == nil { // want: requestid
			break
		}
	}
	return err
}

func GoodLoop(ctx context.Context, b *bank.Bank, os []bank.Order) (err error) {
	for _, o := range os {
		err = errors.Join(err, b.PayNew(ctx, o))
	}
	return err
}

func BadKey(ctx context.Context, b *bank.Bank, o bank.Order) (err error) {
	for range 5 {
		o.Key = bank.Key() // want: requestid
		if err = b.Pay(ctx, o); err == nil {
			break
		}
	}
	return err
}

func GoodKey(ctx context.Context, b *bank.Bank, o bank.Order) (err error) {
	o.Key = bank.Key()
	for range 5 {
		if err = b.Pay(ctx, o); err == nil {
			break
		}
	}
	return err
}

func BadRetry(ctx context.Context, b *bank.Bank, o bank.Order) error {
	return retry.Do(func() error { return b.Pay(ctx, o) }) // want: retry
}

func BadRetryNew(ctx context.Context, b *bank.Bank, o bank.Order) error {
	return retry.Do(func() error { // want: retry
		return b.PayNew(ctx, o) // want: requestid
	})
}

// again passes its function on to a library.
func again(f func() error) error { return retry.Do(f, retry.Attempts(3)) }

func BadAgain(ctx context.Context, b *bank.Bank, o bank.Order) error {
	return again(func() error { return b.Pay(ctx, o) }) // want: retry
}

// BadMessage handles webhook messages.
func BadMessage(ctx context.Context, b *bank.Bank, m *prepaid.Message) error {
	return b.PayNew(ctx, bank.Order{To: prepaid.AccountID(m.ID)}) // want: webhook
}

// The bank logs its errors.
func GoodLogged(ctx context.Context, b *bank.Bank, o bank.Order) { _ = b.PayLogged(ctx, o) }

func GoodIgnored(ctx context.Context, b *bank.Bank, o bank.Order) {
	//prepaidvet:ignore outcome the next run reads the history
	_ = b.Pay(ctx, o)
}

func BadIgnored(ctx context.Context, b *bank.Bank, o bank.Order) {
	//prepaidvet:ignore outcome
	_ = b.Pay(ctx, o) // want: outcome
}

func GoodRetryIf(ctx context.Context, b *bank.Bank, o bank.Order) error {
	return retry.Do(func() error { return b.Pay(ctx, o) }, retry.RetryIf(func(err error) bool {
		return prepaid.OutcomeOf(err) == prepaid.OutcomeNotProcessed
	}))
}

func BadRedeem(ctx context.Context, b *bank.Bank, p prepaid.RedeemFundingParams) error {
	_, err := b.Redeem(ctx, p) // want: funding
	return err
}

func GoodRedeem(ctx context.Context, b *bank.Bank, p prepaid.RedeemFundingParams) (bool, error) {
	r, err := b.Redeem(ctx, p)
	return err == nil && r.Approved(), err
}

func BadHistory(ctx context.Context, b *bank.Bank) (n int) {
	for _, err := range b.History(ctx) { // want: iterator
		if err == nil {
			n++
		}
	}
	return n
}

func GoodHistory(ctx context.Context, b *bank.Bank) (n int) {
	for _, err := range b.History(ctx) {
		if err == nil {
			n++
		} else {
			log.Println("history", err)
		}
	}
	return n
}

// The ID is made in another package.
func BadEach(ctx context.Context, c *prepaid.Client, os []bank.Order, day prepaid.Date) (err error) {
	for _, o := range os {
		_, err = c.Accounts.Transfer(ctx, "EA1", bank.Params(o, day)) // want: outcome
	}
	return err
}

func GoodSame(ctx context.Context, c *prepaid.Client, o bank.Order, day prepaid.Date) (err error) {
	for range 3 {
		if _, err = c.Accounts.Transfer(ctx, "EA1", bank.Params(o, day)); err == nil {
			break
		}
	}
	return err
}
