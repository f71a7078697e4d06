// Package shop has a mistake with another SDK, which a mapped rule finds.
package shop

import (
	"fmt"

	"github.com/google/uuid"
	"github.com/stripe/stripe-go/v82"
	"github.com/stripe/stripe-go/v82/paymentintent"
)

func again(amount int64) (err error) {
	for range 3 {
		params := &stripe.PaymentIntentParams{Amount: stripe.Int64(amount)}
		params.IdempotencyKey = stripe.String(uuid.NewString()) // want `sent again under a new request ID`
		if _, err = paymentintent.New(params); err == nil {
			return nil
		}
	}
	return err
}

func once(order string, amount int64) error {
	params := &stripe.PaymentIntentParams{Amount: stripe.Int64(amount)}
	params.IdempotencyKey = stripe.String("order " + order)
	var err error
	for range 3 {
		if _, err = paymentintent.New(params); err == nil {
			return nil
		}
	}
	return fmt.Errorf("order %s: %w", order, err)
}
