package internal_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

func TestWhatIsNoSecretIsShown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		`grant_type=client_credentials`, `{"token_unique_reference":"DWSP","initiating_user_id":"shopping"}`, `{"uri":"https://shop.example/ping","hmac_key_id":"k1"}`,
		`{"registration":{"first_name":"José","last_name":"O\"Hara"}}`, `{"key_id":"k","device_id":"d","public_key_fingerprint":"f"}`, `{"amount":1.50,"amount2":1e3}`,
	} {
		require.Equal(t, text, requestlog.Body([]byte(text), false))
		require.Equal(t, text, requestlog.Body([]byte(text), true))
	}
	got := requestlog.Body([]byte(`{"amount":1.50, "Pin":"1", "z":{"b":"<é>","otp":2,"a":[true,null]}}`), true)
	require.Equal(t, `{"amount":1.50,"Pin":"[REDACTED]","z":{"b":"<é>","otp":"[REDACTED]","a":[true,null]}}`, got)
	require.Len(t, requestlog.Body([]byte(`{"a":"`+strings.Repeat("b", 16<<10)+`"}`), true), 16<<10)
	require.Equal(t, `{"initial_load_amount":0x1f}`, requestlog.Body([]byte(`{"initial_load_amount":0x1f}`), true))
}
