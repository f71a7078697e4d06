// Package backoff is a stub.
package backoff

type (
	Operation                func() error
	OperationWithData[T any] func() (T, error)
	BackOff                  interface{ Reset() }
)

func NewExponentialBackOff() BackOff                                             { return nil }
func WithMaxRetries(b BackOff, max uint64) BackOff                               { return b }
func Permanent(err error) error                                                  { return err }
func Retry(o Operation, b BackOff) error                                         { return nil }
func RetryWithData[T any](o OperationWithData[T], b BackOff) (result T, _ error) { return result, nil }
