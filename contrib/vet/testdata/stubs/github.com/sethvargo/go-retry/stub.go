// Package retry is a stub.
package retry

import (
	"context"
	"time"
)

type (
	Backoff   interface{ Next() (time.Duration, bool) }
	RetryFunc func(ctx context.Context) error
)

func NewFibonacci(time.Duration) Backoff                   { return nil }
func RetryableError(err error) error                       { return err }
func Do(ctx context.Context, b Backoff, f RetryFunc) error { return nil }
