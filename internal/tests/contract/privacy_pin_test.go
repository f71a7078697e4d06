package contract

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// pinFailure keeps testify's text of a failed assertion: it follows unexported fields and pointers.
type pinFailure struct{ text string }

func (f *pinFailure) Errorf(format string, arguments ...any) {
	f.text += fmt.Sprintf(format, arguments...)
}

// The secrets of a PIN change, the key, the envelope and the errors of Seal show nothing of PIN and password.
func TestPINNeverPrints(t *testing.T) {
	t.Parallel()
	secret := prepaid.PINSecret{OTP: prepaid.NewSecret(canaryOf("PIN", "OTP")), PIN: prepaid.NewSecret(canaryOf("PIN", "PIN"))}
	key := canaryPINKey(t)
	envelope, err := key.Seal(secret)
	require.NoError(t, err)
	_, noPIN := key.Seal(prepaid.PINSecret{OTP: secret.OTP})
	_, badPIN := key.Seal(prepaid.PINSecret{OTP: secret.OTP, PIN: prepaid.NewSecret(canaryOf("PIN", "bad") + "\xff")})
	_, noKey := (*prepaid.PINKey)(nil).Seal(secret)
	for name, err := range map[string]error{"no PIN": noPIN, "bad PIN": badPIN, "no key": noKey} {
		require.Error(t, err, name)
		requireQuietError(t, name, err)
	}
	type request struct {
		Secret *prepaid.PINSecret
		hidden prepaid.PINSecret
	}
	for name, value := range map[string]any{
		"secret": secret, "pointer": &secret, "within": request{&secret, secret}, "list": []prepaid.PINSecret{secret},
		"map": map[string]prepaid.PINSecret{"a": secret}, "key": key, "envelope": *envelope,
	} {
		var w canaryWatch
		w.print(value)
		for _, verb := range []string{"%s", "%q", "%x", "%X", "% x", "%d"} {
			fmt.Fprintf(&w, verb, value)
		}
		encoded, err := json.Marshal(value)
		require.NoError(t, err)
		var failed pinFailure
		assert.Equal(&failed, reflect.Zero(reflect.TypeOf(value)).Interface(), value)
		require.Contains(t, failed.text, "Not equal")
		requireNothingSeen(t, name, w.take()+string(encoded)+failed.text)
	}
}
