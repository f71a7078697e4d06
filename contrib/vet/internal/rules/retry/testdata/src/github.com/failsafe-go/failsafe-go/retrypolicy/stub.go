// Package retrypolicy is a stub.
package retrypolicy

type RetryPolicy[R any] interface {
	Name(R) string
	Repeats()
}

func NewWithDefaults[R any]() RetryPolicy[R] { return nil }
