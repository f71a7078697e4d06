package prepaid

import (
	"crypto/sha256"
	"crypto/subtle"
	"encoding"
	"errors"
	"fmt"
	"io"
	"log/slog"

	"github.com/cardprograms/prepaid/internal/redact"
)

// ErrRedactedSecret means that the text of a secret is "[REDACTED]", so it was printed or marshalled before.
var ErrRedactedSecret = errors.New("prepaid: secret: the text is a redacted secret, [REDACTED]")

// Secret holds a value that is never printed: not by fmt, log/slog, encoding/json or a dumper that uses reflection, nor
// from an unexported field of another struct. It prints as [REDACTED], even if empty. The zero value is the empty
// secret.
//
// Secrets cannot be compared with ==, and [reflect.DeepEqual], which test libraries use, reports them as different
// unless both are empty: use [Secret.Equal].
type Secret struct {
	// A closure, because fmt and other users of reflection read a string through an unexported field and follow
	// pointers, but can only print the address of a function.
	reveal func() string
}

var (
	_ fmt.Formatter            = Secret{}
	_ slog.LogValuer           = Secret{}
	_ encoding.TextMarshaler   = Secret{}
	_ encoding.TextUnmarshaler = (*Secret)(nil)
)

// NewSecret returns a Secret that holds value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{reveal: func() string { return value }}
}

// Reveal returns the value. Keep it out of logs and errors.
func (s Secret) Reveal() string {
	if s.reveal == nil {
		return ""
	}
	return s.reveal()
}

// IsZero reports whether s is empty.
func (s Secret) IsZero() bool { return s.reveal == nil }

// Equal reports whether s and other hold the same value. The time it takes does not depend on where they differ.
func (s Secret) Equal(other Secret) bool {
	// Compare hashes: comparing the values themselves would end early if their lengths differ.
	a, b := sha256.Sum256([]byte(s.Reveal())), sha256.Sum256([]byte(other.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// Format writes [REDACTED], whatever the verb and flags. It implements [fmt.Formatter].
func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redact.Mark) // a formatter has no way to return an error
}

// LogValue returns [REDACTED]. It implements [slog.LogValuer].
func (s Secret) LogValue() slog.Value { return slog.StringValue(redact.Mark) }

// MarshalText returns [REDACTED], even if s is empty. It implements [encoding.TextMarshaler], which covers JSON and
// XML.
func (s Secret) MarshalText() ([]byte, error) { return []byte(redact.Mark), nil }

// UnmarshalText reads a value, so that configuration files can contain one. It returns [ErrRedactedSecret] for
// [REDACTED], so that a dumped configuration cannot be loaded by mistake. It implements [encoding.TextUnmarshaler].
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == redact.Mark {
		return ErrRedactedSecret
	}
	*s = NewSecret(string(text))
	return nil
}
