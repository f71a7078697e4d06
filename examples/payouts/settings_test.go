package main

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// What the demonstration passes to its processes is what they read.
func TestSettingsReachTheProcesses(t *testing.T) { //nolint:paralleltest // it sets the environment
	config := prepaid.Config{
		BaseURL: "https://example.com/3.0/", Vendor: "vendor", Environment: prepaid.EnvironmentTest, AttemptTimeout: time.Second,
		Credentials: prepaid.Credentials{ClientID: "id", ClientSecret: prepaid.NewSecret("hunter2")},
		Retry:       prepaid.RetryPolicy{InFlightWait: 2 * time.Second}, RateShare: 0.25,
	}
	sent := settings{
		config: config, float: "float", call: 3 * time.Second, database: "postgres:///x", name: "y",
		key: prepaid.NewSecret(strings.Repeat("5a", 32)),
	}
	for _, pair := range sent.environment() {
		name, value, _ := strings.Cut(pair, "=")
		if strings.HasPrefix(name, "PREPAID_") {
			t.Setenv(name, value)
		}
	}
	got, err := settingsFromEnv()
	require.NoError(t, err)
	require.Equal(t, sent.config.Credentials.ClientSecret.Reveal(), got.config.Credentials.ClientSecret.Reveal())
	require.Equal(t, sent.key.Reveal(), got.key.Reveal())
	sent.config.Credentials, sent.key, got.config.Credentials, got.key = prepaid.Credentials{}, prepaid.Secret{}, prepaid.Credentials{}, prepaid.Secret{}
	require.Equal(t, sent, got)

	for name, c := range map[string]struct{ variable, value, want string }{
		"no database":  {"PREPAID_PAYOUTS_DATABASE", "", "nothing was started: PREPAID_PAYOUTS_DATABASE is required"},
		"no float":     {"PREPAID_FLOAT_ACCOUNT", "", "nothing was started: PREPAID_FLOAT_ACCOUNT is required"},
		"no limit":     {"PREPAID_PAYOUTS_CALL", "0s", "nothing was started: PREPAID_PAYOUTS_CALL must be a duration above zero"},
		"short key":    {"PREPAID_PAYOUTS_KEY", "hunter2", "nothing was started: PREPAID_PAYOUTS_KEY_FILE must have 64 hex digits"},
		"no key":       {"PREPAID_PAYOUTS_KEY_FILE", "/no/such/file", "nothing was started: PREPAID_PAYOUTS_KEY_FILE: open /no/such/file: no such file or directory"},
		"no service":   {"PREPAID_VENDOR", "", "nothing was started: prepaid: invalid input: PREPAID_VENDOR is required"},
		"bad database": {"PREPAID_PAYOUTS_DATABASE", "postgres://u:hunter2@%zz", "nothing was started: PREPAID_PAYOUTS_DATABASE cannot be read"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Setenv(c.variable, c.value)
			if c.variable == "PREPAID_PAYOUTS_KEY_FILE" {
				t.Setenv("PREPAID_PAYOUTS_KEY", "")
			}
			s, err := settingsFromEnv()
			if err == nil {
				_, err = s.connect(t.Context())
			}
			require.EqualError(t, err, c.want)
		})
	}
}

// Keys for different purposes differ, and are the same in each process.
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
