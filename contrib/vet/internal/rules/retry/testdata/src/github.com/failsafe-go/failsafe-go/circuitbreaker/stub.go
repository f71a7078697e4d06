// Package circuitbreaker is a stub.
package circuitbreaker

type CircuitBreaker[R any] interface {
	Name(R) string
	Open()
}

func NewWithDefaults[R any]() CircuitBreaker[R] { return nil }
