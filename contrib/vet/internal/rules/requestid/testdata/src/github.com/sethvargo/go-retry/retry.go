// Package retry is what the tests use of it.
package retry

import "context"

type (
	Backoff   interface{ Next() }
	RetryFunc func(ctx context.Context) error
)

func Do(context.Context, Backoff, RetryFunc) error { return nil }
func RetryableError(err error) error               { return err }
