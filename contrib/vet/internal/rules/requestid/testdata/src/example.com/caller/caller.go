// Package caller pays through other packages.
package caller

import (
	"context"

	"github.com/cardprograms/prepaid"
	"github.com/cenkalti/backoff/v4"
	"github.com/google/uuid"

	"example.com/ids"
	"example.com/retry"
	"example.com/wrapper"
)

func loop(ctx context.Context, s *wrapper.Service, o wrapper.Order) (err error) {
	for range 3 {
		if err = s.Pay(ctx, o); err == nil { // want `Pay makes a new request ID each time, and is called again after an error`
			return nil
		}
	}
	return err
}

func library(ctx context.Context, s *wrapper.Service, o wrapper.Order) error {
	return backoff.Retry(func() error {
		return s.Pay(ctx, o) // want `Pay makes a new request ID each time`
	}, backoff.NewExponentialBackOff())
}

func own(ctx context.Context, s *wrapper.Service, c *prepaid.Client, o wrapper.Order) error {
	if err := retry.Times(ctx, 3, func(ctx context.Context) error {
		return s.PayAs(ctx, prepaid.NewRequestID(), o) // want `sent again under a new request ID`
	}); err != nil {
		return err
	}
	_, err := retry.Value(3, func() (*prepaid.TransferResult, error) {
		return c.Accounts.Transfer(ctx, o.To, wrapper.Params(o)) // want `sent again under a new request ID`
	})
	return err
}

func right(ctx context.Context, s *wrapper.Service, orders []wrapper.Order, o wrapper.Order) error {
	for _, o := range orders {
		if err := s.Pay(ctx, o); err != nil {
			return err
		}
		if s.Try(ctx, o) {
			return nil
		}
	}
	for range 3 {
		if err := s.PayOnce(ctx, o); err == nil {
			return nil
		}
	}
	id := prepaid.NewRequestID()
	if err := retry.Times(ctx, 3, func(ctx context.Context) error { return s.PayAs(ctx, id, o) }); err != nil {
		return err
	}
	return s.PayKey(ctx, ids.Of(o.ID), o)
}

func others(ctx context.Context, s *wrapper.Service, o wrapper.Order) error {
	if err := retry.Once(func() error { return s.Pay(ctx, o) }); err != nil {
		return err
	}
	return retry.Until(func() error { return s.Pay(ctx, o) })
}

func each(ctx context.Context, s *wrapper.Service, orders map[string]wrapper.Order, list []string) error {
	return retry.Each(list, func(id string) error { return s.Pay(ctx, orders[id]) })
}

// The key is that of the order, which is stored.
func stored(ctx context.Context, s *wrapper.Service, save func(string) error, o wrapper.Order) error {
	key := uuid.NewString()
	if err := save(key); err != nil {
		return err
	}
	return s.PayKey(ctx, key, o)
}
