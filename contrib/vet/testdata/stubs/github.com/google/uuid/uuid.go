// Package uuid is what the tests use of it.
package uuid

type UUID [16]byte

func New() UUID             { return UUID{} }
func NewString() string     { return "" }
func (UUID) String() string { return "" }
