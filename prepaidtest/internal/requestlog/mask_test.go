package requestlog

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatIsNoSecretIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		tokenForm, `{"token_unique_reference":"DWSP","initiating_user_id":"shopping"}`, `{"uri":"https://shop.example/ping","hmac_key_id":"k1"}`,
		`{"registration":{"first_name":"José","last_name":"O\"Hara"}}`, `{"key_id":"k","device_id":"d","public_key_fingerprint":"f"}`, `{"amount":1.50,"amount2":1e3}`,
	} {
		require.Equal(t, text, Body([]byte(text), false))
		require.Equal(t, text, Body([]byte(text), true))
	}
	got := Body([]byte(`{"amount":1.50, "Pin":"1", "z":{"b":"<é>","otp":2,"a":[true,null]}}`), true)
	require.Equal(t, `{"amount":1.50,"Pin":"[REDACTED]","z":{"b":"<é>","otp":"[REDACTED]","a":[true,null]}}`, got)
	require.Len(t, Body([]byte(`{"a":"`+strings.Repeat("b", maxLoggedBody)+`"}`), true), maxLoggedBody)
	require.Equal(t, `{"initial_load_amount":0x1f}`, Body([]byte(`{"initial_load_amount":0x1f}`), true))
}
