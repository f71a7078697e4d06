// Package retry is a stub.
package retry

import "k8s.io/apimachinery/pkg/util/wait"

var DefaultRetry wait.Backoff

func OnError(backoff wait.Backoff, retriable func(error) bool, fn func() error) error { return nil }
func RetryOnConflict(backoff wait.Backoff, fn func() error) error                     { return nil }
