// Package paymentintent has the part of stripe-go that package shop uses.
package paymentintent

import "github.com/stripe/stripe-go/v82"

func New(*stripe.PaymentIntentParams) (*stripe.PaymentIntent, error) { return nil, nil }
