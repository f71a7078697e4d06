// Package faults collects the errors in options and arguments, for the modules below contrib.
package faults

import (
	"strings"

	"github.com/cardprograms/prepaid"
)

// List is the faults found so far.
type List []prepaid.FieldError

// Require adds a fault unless ok.
func (l *List) Require(ok bool, field, rule string) {
	if !ok {
		*l = append(*l, prepaid.FieldError{Field: field, Rule: rule})
	}
}

// RequireKey requires that key is empty or a valid key of a store.
func (l *List) RequireKey(field, key string) {
	plain := !strings.ContainsFunc(key, func(r rune) bool { return r <= ' ' || r > '~' })
	l.Require(len(key) <= 128 && plain, field, "must be at most 128 printable ASCII characters without white space")
}

// Err returns the faults as a *[prepaid.ValidationError], or nil if there are none.
func (l List) Err() error {
	if len(l) == 0 {
		return nil
	}
	return &prepaid.ValidationError{Faults: l}
}
