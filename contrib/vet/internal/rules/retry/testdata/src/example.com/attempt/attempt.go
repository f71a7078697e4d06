// Package attempt is a helper that knows nothing of the SDK.
package attempt

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v4"
)

func Times(n int, f func() error) (err error) {
	for range n {
		if err = f(); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func Forever(ctx context.Context, f func(context.Context) error) error {
	for {
		err := f(ctx)
		if err != nil {
			time.Sleep(time.Second)
			continue
		}
		return nil
	}
}

func Backoff(f func() error) error {
	return backoff.Retry(func() error { return f() }, backoff.NewExponentialBackOff())
}

type Policy struct{ n int }

func (p Policy) Do(f func() error) error { return Times(p.n, f) }

// Every runs f at intervals: there is something else to do each time.
func Every(ctx context.Context, wait time.Duration, f func() error) error {
	for ctx.Err() == nil {
		if err := f(); err != nil {
			return err
		}
		time.Sleep(wait)
	}
	return nil
}

// Workers runs f in several goroutines.
func Workers(n int, f func() error) []error {
	var errs []error
	for range n {
		if err := f(); err != nil {
			errs = append(errs, err)
		}
	}
	return errs
}

// Until runs f until it succeeds.
func Until(f func() error) {
	for {
		if f() == nil {
			return
		}
		time.Sleep(time.Second)
	}
}

// Generic is a helper of a helper.
func Generic[T any](f func(T) error, with T) {
	for range 3 {
		err := f(with)
		if err != nil {
		} else {
			break
		}
		if err == nil {
			return
		}
	}
}
