// Package stripe has the part of stripe-go that package shop uses.
package stripe

import "context"

type Params struct {
	Context        context.Context
	IdempotencyKey *string
}

type PaymentIntentParams struct {
	Params
	Amount *int64
}

type PaymentIntent struct{ ID string }

func String(v string) *string { return &v }

func Int64(v int64) *int64 { return &v }
