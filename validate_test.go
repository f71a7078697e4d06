package prepaid

import (
	"errors"
	"net/mail"
	"testing"

	"github.com/stretchr/testify/require"
)

// Text that passes the fast e-mail check also passes the parser.
func FuzzPlainEmail(f *testing.F) {
	for _, seed := range []string{"a@b", "a.b+c@d-e.f", "a@b@c", ".a@b", "a..b@c", "a.@b", "@b", "a@", "a@.b", "a@b.", "a"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, value string) {
		if isPlainEmail(value) {
			address, err := mail.ParseAddress(value)
			require.NoError(t, err)
			require.Equal(t, value, address.Address)
		}
	})
}

// Only a ValidationError has faults.
func TestValidationFaultsOf(t *testing.T) {
	t.Parallel()
	require.Nil(t, faultsOf(errors.New("x")))
	require.Nil(t, faultsOf(nil))
	require.Len(t, faultsOf(&CallError{Err: &ValidationError{Faults: make([]FieldError, 2)}}), 2)
}
