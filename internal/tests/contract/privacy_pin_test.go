package contract

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/operator"
)

// The key, the envelope and the errors of Seal show nothing of PIN and password.
func TestPINNeverPrints(t *testing.T) {
	t.Parallel()
	secret := prepaid.PINSecret{OTP: prepaid.NewSecret(canaryOf("PIN", "OTP")), PIN: prepaid.NewSecret(canaryOf("PIN", "PIN"))}
	key, err := prepaid.NewPINKey(operator.Certificate(t, &operator.Key().PublicKey), prepaid.PINKeyOptions{})
	require.NoError(t, err)
	envelope, err := key.Seal(secret)
	require.NoError(t, err)
	_, noPIN := key.Seal(prepaid.PINSecret{OTP: secret.OTP})
	_, badPIN := key.Seal(prepaid.PINSecret{OTP: secret.OTP, PIN: prepaid.NewSecret(canaryOf("PIN", "bad") + "\xff")})
	_, noKey := (*prepaid.PINKey)(nil).Seal(secret)
	for _, err := range []error{noPIN, badPIN, noKey} {
		require.Error(t, err)
		requireQuietError(t, "Seal", err)
	}
	var w canaryWatch
	w.print(secret, &secret, key, *envelope)
	requireNothingSeen(t, "values", w.take())
}
