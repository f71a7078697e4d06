package pin

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAPayloadIsNotQuoted(t *testing.T) {
	t.Parallel()
	_, _, err := payload([]byte(`{"otp":"hunter2"}`))
	require.ErrorContains(t, err, "payload")
	require.NotContains(t, err.Error(), "hunter2")
}

func TestASavedKeyNeedsItsCertificate(t *testing.T) {
	t.Parallel()
	made, err := newPINIdentity()
	require.NoError(t, err)
	saved, err := made.saved()
	require.NoError(t, err)
	other, err := newPINIdentity()
	require.NoError(t, err)
	for _, certificate := range [][]byte{saved.Key, other.certificate} {
		_, err = (&SavedIdentity{Key: saved.Key, Certificate: certificate}).identity()
		require.ErrorContains(t, err, "pin_identity")
	}
}
