// Package ratelimit is the public API of the SDK's package as far as the rules need it, without bodies.
package ratelimit

type RefusedError struct{}

func (*RefusedError) Error() string { return "" }
