// Package backoff is a stub.
package backoff

import "context"

type (
	Operation[T any] func() (T, error)
	RetryOption      func()
)

func WithMaxTries(n uint) RetryOption { return nil }
func Permanent(err error) error       { return err }
func Retry[T any](ctx context.Context, operation Operation[T], opts ...RetryOption) (result T, _ error) {
	return result, nil
}
