// Package sentinel makes errors for errors.Is whose type shows that they are of this module.
package sentinel

// New returns an error that is equal only to one with the same text.
func New(text string) error { return sentinel(text) }

type sentinel string

func (s sentinel) Error() string { return string(s) }
