// Package transport is the public API of the SDK's package as far as the rules need it, without bodies.
package transport

func NotSent(error) bool { return false }
