// Package uuid is what the tests use of it.
package uuid

type UUID [16]byte

var Nil UUID

func New() UUID                 { return UUID{} }
func NewString() string         { return "" }
func NewV7() (UUID, error)      { return UUID{}, nil }
func NewSHA1(UUID, []byte) UUID { return UUID{} }
func (UUID) String() string     { return "" }
