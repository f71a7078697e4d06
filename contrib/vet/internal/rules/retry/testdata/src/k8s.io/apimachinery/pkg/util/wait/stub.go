// Package wait is a stub.
package wait

import (
	"context"
	"time"
)

type (
	Backoff       struct{ Steps int }
	ConditionFunc func(ctx context.Context) (bool, error)
)

func ExponentialBackoffWithContext(ctx context.Context, backoff Backoff, condition ConditionFunc) error {
	return nil
}
func PollUntilContextTimeout(ctx context.Context, interval, timeout time.Duration, immediate bool, condition ConditionFunc) error {
	return nil
}
func UntilWithContext(ctx context.Context, f func(context.Context), period time.Duration) {}
