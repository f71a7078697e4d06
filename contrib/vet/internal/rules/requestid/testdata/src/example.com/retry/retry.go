// Package retry calls functions again. It knows nothing of payments.
package retry

import (
	"context"
	"time"
)

func Times(ctx context.Context, n int, f func(context.Context) error) error {
	var err error
	for range n {
		if err = f(ctx); err == nil {
			return nil
		}
		time.Sleep(time.Second)
	}
	return err
}

func Value[T any](n int, f func() (T, error)) (T, error) {
	for {
		v, err := f()
		if err == nil || n == 0 {
			return v, err
		}
		n--
	}
}

// Once does not.
func Once(f func() error) error { return f() }

// Each calls f for different things.
func Each(list []string, f func(string) error) error {
	for _, s := range list {
		if f(s) == nil {
			return nil
		}
	}
	return nil
}

// Until calls f until it fails.
func Until(f func() error) error {
	for {
		if err := f(); err != nil {
			return err
		}
	}
}
