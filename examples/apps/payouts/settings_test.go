package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

func TestSettings(t *testing.T) { //nolint:paralleltest // it sets the environment
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("5a", 32)+"\n"), 0o600))
	short := filepath.Join(t.TempDir(), "short")
	require.NoError(t, os.WriteFile(short, []byte("hunter2\n"), 0o600))
	for name, value := range map[string]string{
		"PREPAID_BASE_URL": "https://example.com/3.0/", "PREPAID_VENDOR": "vendor", "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": "id", "PREPAID_CLIENT_SECRET": "hunter2", "PREPAID_FLOAT_ACCOUNT": "float",
		"PREPAID_PAYOUTS_DATABASE": "postgres:///x", "PREPAID_PAYOUTS_KEY_FILE": key,
	} {
		t.Setenv(name, value)
	}
	got, err := settingsFromEnv()
	require.NoError(t, err)
	require.Equal(t, strings.Repeat("5a", 32), got.key.Reveal())
	require.Equal(t, 2*time.Minute, got.call)
	require.Equal(t, "postgres:///x", got.database)

	for name, c := range map[string]struct{ variable, value, want string }{
		"no database":  {"PREPAID_PAYOUTS_DATABASE", "", "PREPAID_PAYOUTS_DATABASE is required"},
		"no float":     {"PREPAID_FLOAT_ACCOUNT", "", "PREPAID_FLOAT_ACCOUNT is required"},
		"no limit":     {"PREPAID_PAYOUTS_CALL", "0s", "PREPAID_PAYOUTS_CALL must be a duration above zero"},
		"short key":    {"PREPAID_PAYOUTS_KEY_FILE", short, "PREPAID_PAYOUTS_KEY_FILE must have 64 hex digits"},
		"no key":       {"PREPAID_PAYOUTS_KEY_FILE", "/no/such/file", "PREPAID_PAYOUTS_KEY_FILE: open /no/such/file: no such file or directory"},
		"no service":   {"PREPAID_VENDOR", "", "prepaid: invalid input: PREPAID_VENDOR is required"},
		"bad database": {"PREPAID_PAYOUTS_DATABASE", "postgres://u:hunter2@%zz", "nothing was started: PREPAID_PAYOUTS_DATABASE cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			s, err := settingsFromEnv()
			if err == nil {
				_, err = s.connect(t.Context())
			}
			require.EqualError(t, err, c.want)
		})
	}
}

// Keys for different purposes differ. Each process has the same keys.
func TestKeys(t *testing.T) {
	t.Parallel()
	s := settings{key: prepaid.NewSecret(strings.Repeat("5a", 32))}
	seal, err := s.derive("seal")
	require.NoError(t, err)
	digest, err := s.derive("digest")
	require.NoError(t, err)
	require.Len(t, seal, 32)
	require.NotEqual(t, seal, digest)
	again, err := settings{key: s.key}.derive("seal")
	require.NoError(t, err)
	require.Equal(t, seal, again)
}
