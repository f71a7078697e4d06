package prepaid_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// fullConfig sets every field that holds data: no two values are alike, and none is the default.
func fullConfig() prepaid.Config {
	return prepaid.Config{
		BaseURL: "https://service.example/3.0/", Vendor: "vendor", TestEnvironment: true,
		InsecureHTTP: true, ClientID: "id", ClientSecret: prepaid.NewSecret("s3cret"),
		UserAgent: "acme/1.4", AttemptTimeout: 11 * time.Second, BodyIdleTimeout: 90 * time.Second, MaxResponseBytes: 4096,
		Retry: prepaid.RetryPolicy{
			MaxAttempts: 7, MinWait: 12 * time.Millisecond, MaxWait: 13 * time.Second, MaxRetryAfter: 14 * time.Second,
			MaxThrottleWait: 15 * time.Minute, InFlightWait: 1500 * time.Millisecond,
			TokenHold: 16 * time.Millisecond,
		},
		NeverRepeatLoads: true, RateShare: 0.25, RefusalCodes: []prepaid.ErrorCode{"insufficient_funds", "closed_2"}, MediaTypes: []string{"", "text/plain"}, SkipValueChecks: true, ShowDescriptions: true,
	}
}

// requireConfig compares fields, since a Secret has no ==.
func requireConfig(t *testing.T, want, got prepaid.Config) {
	t.Helper()
	require.Equal(t, want.ClientSecret.Reveal(), got.ClientSecret.Reveal())
	want.ClientSecret, got.ClientSecret = prepaid.Secret{}, prepaid.Secret{}
	require.Equal(t, want, got)
}

// settings walks through the fields that hold data, by their dotted JSON names.
func settings(t *testing.T, of reflect.Value, prefix string) map[string]reflect.Value {
	t.Helper()
	found := map[string]reflect.Value{}
	for field, value := range of.Fields() {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		yamlName, _, _ := strings.Cut(field.Tag.Get("yaml"), ",")
		require.NotEmpty(t, name, "%s has no name in JSON", field.Name)
		require.Equal(t, name, yamlName, "%s has two names", field.Name)
		switch {
		case name == "-":
		case value.Kind() == reflect.Struct && field.Type != reflect.TypeFor[prepaid.Secret]():
			maps.Copy(found, settings(t, value, prefix+name+"."))
		default:
			require.False(t, value.IsZero(), "fullConfig lacks %s", field.Name)
			found[prefix+name] = value
		}
	}
	return found
}

// configText is fullConfig as a file, with the secret in it, in the syntax that JSON and YAML share.
const configText = `{
	"base_url": "https://service.example/3.0/", "vendor": "vendor", "test_environment": true,
	"insecure_http": true, "client_id": "id", "client_secret": "s3cret",
	"user_agent": "acme/1.4", "attempt_timeout": "11s", "body_idle_timeout": "1m30s", "max_response_bytes": 4096,
	"retry": {
		"max_attempts": 7, "min_wait": "12ms", "max_wait": "13s", "max_retry_after": "14s",
		"max_throttle_wait": "15m", "in_flight_wait": "1.5s", "token_hold": "16ms"
	},
	"never_repeat_loads": true, "rate_share": 0.25, "refusal_codes": ["insufficient_funds", "closed_2"], "media_types": ["", "text/plain"], "skip_value_checks": true, "show_descriptions": true
}`

func TestConfigFromJSONAndYAML(t *testing.T) {
	t.Parallel()
	want := fullConfig()
	for name := range settings(t, reflect.ValueOf(want), "") {
		require.Contains(t, configText, `"`+name[strings.LastIndex(name, ".")+1:]+`"`)
	}
	var fromJSON, fromYAML prepaid.Config
	require.NoError(t, json.Unmarshal([]byte(configText), &fromJSON))
	requireConfig(t, want, fromJSON)
	decoder := yaml.NewDecoder(strings.NewReader(strings.ReplaceAll(configText, "\t", "  ")))
	decoder.KnownFields(true)
	require.NoError(t, decoder.Decode(&fromYAML))
	requireConfig(t, want, fromYAML)

	// In the caller's own struct, values that the text does not set are kept.
	own := struct {
		Prepaid prepaid.Config `json:"prepaid" yaml:"prepaid"`
		Other   string         `json:"other" yaml:"other"`
	}{Prepaid: prepaid.Config{RateShare: 0.5, UserAgent: "acme/1"}}
	require.NoError(t, json.Unmarshal([]byte(`{"prepaid": {"rate_share": 0.75, "attempt_timeout": null}, "other": "x"}`), &own))
	require.Equal(t, prepaid.Config{RateShare: 0.75, UserAgent: "acme/1"}, own.Prepaid)
	require.Equal(t, "x", own.Other)
	require.NoError(t, yaml.Unmarshal([]byte("prepaid: {rate_share: 0.25}\n"), &own))
	require.Equal(t, prepaid.Config{RateShare: 0.25, UserAgent: "acme/1"}, own.Prepaid)
}

// A written Config can be read again, and never holds the secret.
func TestConfigIsWrittenWithoutItsSecret(t *testing.T) {
	t.Parallel()
	config := fullConfig()
	asJSON, err := json.Marshal(config)
	require.NoError(t, err)
	asYAML, err := yaml.Marshal(config)
	require.NoError(t, err)
	for _, text := range []string{string(asJSON), string(asYAML)} {
		require.NotContains(t, text, "s3cret")
		require.Contains(t, text, "1m30s")
		require.Contains(t, text, "[REDACTED]")
	}
	var got prepaid.Config
	require.ErrorIs(t, json.Unmarshal(asJSON, &got), prepaid.ErrSyntax)
	require.ErrorContains(t, yaml.Unmarshal(asYAML, &got), "[REDACTED]")
	again := strings.Replace(string(asJSON), "[REDACTED]", "s3cret", 1)
	got = prepaid.Config{}
	require.NoError(t, json.Unmarshal([]byte(again), &got))
	requireConfig(t, config, got)
	got = prepaid.Config{}
	require.NoError(t, yaml.Unmarshal([]byte(strings.Replace(string(asYAML), "[REDACTED]", "s3cret", 1)), &got))
	requireConfig(t, config, got)

	bare, err := json.Marshal(prepaid.Config{BaseURL: "b", Vendor: "v", Logger: nil, Trace: &prepaid.Trace{}})
	require.NoError(t, err)
	require.JSONEq(t, `{"base_url": "b", "vendor": "v"}`, string(bare))
}

func TestConfigJSONFaults(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]harness.Fault{
		`{"rate_shaer": 0.5}`:                  {Field: "rate_shaer", Rule: "is not a setting"},
		`{"retry": {"min_weight": "1s"}}`:      {Field: "retry.min_weight", Rule: "is not a setting"},
		`{"attempt_timeout": "30"}`:            {Field: "attempt_timeout", Rule: `must be a duration such as "30s"`},
		`{"attempt_timeout": 30}`:              {Field: "attempt_timeout", Rule: `must be a duration such as "30s"`},
		`{"retry": {"max_wait": "qzxwv"}}`:     {Field: "retry.max_wait", Rule: `must be a duration such as "30s"`},
		`{"retry": 3}`:                         {Field: "retry", Rule: "must be a JSON object"},
		`{"retry": {"max_attempts": "qzxwv"}}`: {Field: "retry.max_attempts", Rule: "must be a whole number"},
		`{"max_response_bytes": 1.5}`:          {Field: "max_response_bytes", Rule: "must be a whole number"},
		`{"insecure_http": "qzxwv"}`:           {Field: "insecure_http", Rule: "must be true or false"},
		`{"rate_share": "qzxwv"}`:              {Field: "rate_share", Rule: "must be a number"},
		`{"show_descriptions": "qzxwv"}`:       {Field: "show_descriptions", Rule: "must be true or false"},
		`{"vendor": 9175}`:                     {Field: "vendor", Rule: "must be a text"},
		`{"test_environment": "qzxwv"}`:        {Field: "test_environment", Rule: "must be true or false"},
		`{"client_secret": 9175}`:              {Field: "client_secret", Rule: "must be a text"},
		`{"vendor": "a", "vendor": "qzxwv"}`:   {Field: "vendor", Rule: "must be there once"},
		`["qzxwv"]`:                            {Field: "config", Rule: "must be a JSON object"},
	} {
		config := prepaid.Config{Vendor: "before"}
		err := config.UnmarshalJSON([]byte(text))
		harness.RequireFaults(t, err, "qzxwv", want)
		require.NotContains(t, err.Error(), "9175")
		require.Equal(t, prepaid.Config{Vendor: "before"}, config, "nothing is half read")
	}
	harness.RequireFaults(t, new(prepaid.Config).UnmarshalJSON([]byte(`{"vendor": "qzxwv`)), "qzxwv", harness.Fault{Field: "config", Rule: "must be a JSON object"})
}

// A Config that was read can be written and read again, and no input makes it panic.
func FuzzConfigJSON(f *testing.F) {
	f.Add([]byte(configText))
	f.Add([]byte(`{"retry": {"max_wait": "-1h2m3.5s"}, "rate_share": 1e-7, "test_environment": false}`))
	f.Add([]byte(`{"vendor": "a", "vendor": null}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		var read, again prepaid.Config
		if err := read.UnmarshalJSON(data); err != nil {
			require.Equal(t, prepaid.Config{}, read)
			return
		}
		read.ClientSecret = prepaid.Secret{}
		text, err := read.MarshalJSON()
		require.NoError(t, err)
		if read.ClientID == "" { // otherwise the text holds [REDACTED], which is refused
			require.NoError(t, again.UnmarshalJSON(text))
			require.Equal(t, read, again)
		}
	})
}

// environment holds fullConfig in the variables of ConfigFromEnv.
func environment(t *testing.T) map[string]string {
	t.Helper()
	variables := map[string]string{"PREPAID_CLIENT_SECRET_FILE": ""}
	for name, value := range settings(t, reflect.ValueOf(fullConfig()), "") {
		variables[variable(name)] = fmt.Sprint(value.Interface())
	}
	variables["PREPAID_REFUSAL_CODES"] = "insufficient_funds, closed_2"
	variables["PREPAID_MEDIA_TYPES"] = ", text/plain"
	variables["PREPAID_CLIENT_SECRET"], variables["PREPAID_ENVIRONMENT"] = "s3cret", "test"
	return variables
}

func TestConfigFromEnvHasEverySetting(t *testing.T) {
	for name, value := range environment(t) {
		t.Setenv(name, value)
	}
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	requireConfig(t, fullConfig(), config)
}

func TestConfigFromEnvRefusesWhatItCannotRead(t *testing.T) {
	for name, value := range environment(t) {
		t.Setenv(name, value)
	}
	durations := []string{
		"PREPAID_ATTEMPT_TIMEOUT", "PREPAID_BODY_IDLE_TIMEOUT", "PREPAID_RETRY_MIN_WAIT", "PREPAID_RETRY_MAX_WAIT",
		"PREPAID_RETRY_MAX_RETRY_AFTER", "PREPAID_RETRY_MAX_THROTTLE_WAIT", "PREPAID_RETRY_IN_FLIGHT_WAIT",
		"PREPAID_RETRY_TOKEN_HOLD",
	}
	whole := []string{"PREPAID_MAX_RESPONSE_BYTES", "PREPAID_RETRY_MAX_ATTEMPTS"}
	switches := []string{"PREPAID_INSECURE_HTTP", "PREPAID_SKIP_VALUE_CHECKS", "PREPAID_SHOW_DESCRIPTIONS", "PREPAID_NEVER_REPEAT_LOADS"}
	for _, name := range slices.Concat(durations, whole, switches, []string{"PREPAID_RATE_SHARE"}) {
		t.Setenv(name, "qzxwv")
	}
	config, err := prepaid.ConfigFromEnv()
	require.Equal(t, prepaid.Config{}, config)
	refused, ok := errors.AsType[*prepaid.ValidationError](err)
	require.True(t, ok)
	faults := refused.Faults
	require.Len(t, faults, 15)
	require.NotContains(t, err.Error(), "qzxwv")
	for _, fault := range faults {
		switch {
		case slices.Contains(durations, fault.Field):
			require.Equal(t, `must be a duration such as "30s"`, fault.Rule)
		case slices.Contains(whole, fault.Field):
			require.Equal(t, "must be a whole number", fault.Rule)
		case slices.Contains(switches, fault.Field):
			require.Equal(t, "must be true or false", fault.Rule)
		default:
			require.Equal(t, prepaid.FieldError{Field: "PREPAID_RATE_SHARE", Rule: "must be a number"}, fault)
		}
	}

	for name, value := range environment(t) {
		t.Setenv(name, value)
	}
	t.Setenv("PREPAID_RETRY_MIN_WAIT", "-1s")
	t.Setenv("PREPAID_RATE_SHARE", "NaN")
	_, err = prepaid.ConfigFromEnv()
	harness.RequireFaults(t, err, "NaN", harness.Fault{Field: "PREPAID_RETRY_MIN_WAIT", Rule: "must not be negative"}, harness.Fault{Field: "PREPAID_RATE_SHARE", Rule: "at most 1"})
}

// docs/wrapping.md lists every setting, and its YAML is a valid Config.
func TestWrappingPageHasEverySetting(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("docs", "wrapping.md"))
	require.NoError(t, err)
	for name := range settings(t, reflect.ValueOf(fullConfig()), "") {
		require.Contains(t, string(page), "| `"+name+"` | `"+variable(name)+"` |")
	}
	_, rest, found := strings.Cut(string(page), "```yaml\n")
	require.True(t, found)
	text, _, _ := strings.Cut(rest, "```")
	decoder := yaml.NewDecoder(strings.NewReader(text))
	decoder.KnownFields(true)
	var file struct {
		Prepaid prepaid.Config `yaml:"prepaid"`
	}
	require.NoError(t, decoder.Decode(&file))
	file.Prepaid.ClientSecret = prepaid.NewSecret("s")
	require.NoError(t, file.Prepaid.Validate())
}

// variable is a setting's environment variable, by the rule of docs/wrapping.md.
func variable(setting string) string {
	return "PREPAID_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(setting, "test_"), ".", "_"))
}

func TestSecretFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "secret")
	t.Setenv("PREPAID_CLIENT_SECRET_FILE", file)
	for content, ok := range map[string]bool{"s3cret\r\n": true, "\uFEFFs3cret": false, "s3cret \n": false, "\ts3cret": false} {
		require.NoError(t, os.WriteFile(file, []byte(content), 0o600))
		_, err := prepaid.ConfigFromEnv()
		require.Equal(t, !ok, strings.Contains(err.Error(), "PREPAID_CLIENT_SECRET_FILE must name a file without a byte order mark"), "%q: %v", content, err)
		require.NotContains(t, err.Error(), "s3cret")
	}
}
