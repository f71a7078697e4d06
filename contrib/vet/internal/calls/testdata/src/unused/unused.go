// Package unused does not use the SDK.
package unused

func Charge() error { return nil }

func both() error { return Charge() }
