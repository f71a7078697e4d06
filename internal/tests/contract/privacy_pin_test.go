package contract

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
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

func TestPINNeverPrints(t *testing.T) {
	t.Parallel()
	const otp, pin = "CANARY-OTP-91827364", "CANARY-PIN-56473829"
	leaked := func(text string) bool {
		text = strings.ToLower(text)
		for _, canary := range []string{otp, pin} {
			for _, form := range []string{
				canary,
				hex.EncodeToString([]byte(canary)),
				strings.Trim(fmt.Sprintf("% x", canary), " "),
				base64.RawStdEncoding.EncodeToString([]byte(canary))[:24],
				strings.Trim(fmt.Sprint([]byte(canary)), "[]"),
			} {
				if strings.Contains(text, strings.ToLower(form)) {
					return true
				}
			}
		}
		return false
	}
	for _, verb := range []string{"%v", "%q", "%x", "%X", "% x", "%d"} { // the search itself can find
		require.True(t, leaked(fmt.Sprintf(verb, []byte(otp))) || leaked(fmt.Sprintf(verb, pin)), verb)
	}

	secret := prepaid.PINSecret{OTP: prepaid.NewSecret(otp), PIN: prepaid.NewSecret(pin)}
	key := canaryPINKey(t)
	envelope, err := key.Seal(secret)
	require.NoError(t, err)
	_, noPIN := key.Seal(prepaid.PINSecret{OTP: prepaid.NewSecret(otp)})
	require.Error(t, noPIN)
	_, badPIN := key.Seal(prepaid.PINSecret{OTP: secret.OTP, PIN: prepaid.NewSecret(pin + "\xff")})
	require.Error(t, badPIN)
	_, noKey := (*prepaid.PINKey)(nil).Seal(secret)
	require.Error(t, noKey)
	type request struct {
		Secret *prepaid.PINSecret
		hidden prepaid.PINSecret
	}

	for name, value := range map[string]any{
		"secret": secret, "secret pointer": &secret, "within": request{&secret, secret},
		"list": []prepaid.PINSecret{secret}, "map": map[string]prepaid.PINSecret{"a": secret},
		"key": key, "envelope": *envelope, "envelope pointer": envelope,
		"error no pin": noPIN, "error bad pin": badPIN, "error no key": noKey,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, verb := range []string{"%v", "%+v", "%#v", "%s", "%q", "%x", "%X", "% x", "%d"} {
				require.False(t, leaked(fmt.Sprintf(verb, value)), verb)
			}
			encoded, err := json.Marshal(value)
			require.NoError(t, err)
			require.False(t, leaked(string(encoded)), "json")
			var failed pinFailure
			assert.Equal(&failed, reflect.Zero(reflect.TypeOf(value)).Interface(), value)
			require.Contains(t, failed.text, "Not equal")
			require.False(t, leaked(failed.text), "testify")
			var log bytes.Buffer
			slog.New(slog.NewTextHandler(&log, nil)).Info("pin", "value", value)
			slog.New(slog.NewJSONHandler(&log, nil)).Info("pin", "value", value)
			require.Contains(t, log.String(), "value")
			require.False(t, leaked(log.String()), "slog")
		})
	}
}
