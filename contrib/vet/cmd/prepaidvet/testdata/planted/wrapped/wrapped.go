// Package wrapped uses a wrapper of a wrapper.
package wrapped

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"time"

	"github.com/avast/retry-go/v4"
	"github.com/cardprograms/prepaid"

	"planted/bank"
	"planted/bank/ledger"
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

func BadSecret(s prepaid.Secret) error {
	return fmt.Errorf("login with %q failed", bank.Password(s)) // want: secret
}

func GoodSecret(s prepaid.Secret, r *http.Request) {
	r.SetBasicAuth("me", bank.Password(s))
}

func BadConnect(config prepaid.Config, o bank.Order) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		l, err := ledger.Connect(config) // want: client
		if err != nil {
			http.Error(w, "connect", 500)
			return
		}
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		if err := l.Move(ctx, o.Key, o.To, o.Amount); err != nil {
			log.Println(err)
		}
	}
}

func GoodConnect(config prepaid.Config, o bank.Order) (http.HandlerFunc, error) {
	l, err := ledger.Connect(config)
	if err != nil {
		return nil, err
	}
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(r.Context(), time.Minute)
		defer cancel()
		if err := l.Move(ctx, o.Key, o.To, o.Amount); err != nil {
			log.Println(err)
		}
	}, nil
}

func BadDeadline(b *bank.Bank) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if err := b.Pay(context.WithoutCancel(r.Context()), bank.Order{Key: prepaid.RequestID(r.FormValue("id"))}); err != nil { // want: deadline
			http.Error(w, err.Error(), 502)
		}
	}
}

func GoodDeadline(b *bank.Bank) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(r.Context()), time.Minute)
		defer cancel()
		if err := b.Pay(ctx, bank.Order{Key: prepaid.RequestID(r.FormValue("id"))}); err != nil {
			http.Error(w, err.Error(), 502)
		}
	}
}
