package contract

import (
	"encoding/json"
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// configRule is a rule of a setting, with values that break it and values that keep it, as JSON.
type configRule struct {
	field, rule string
	bad, good   []any
}

// configRules are the rules of the settings: those with a form in the reference (addresses in section 9, the media type in 1, credentials
// in 4.1, the rate in 8), and the client's own.
func configRules() []configRule {
	type values = []any
	rules := []configRule{
		{"base_url", "is required", values{""}, values{"https://h/3.0"}},
		{"base_url", "must be https, or http on loopback", values{
			"http://qzxwv.example/3.0/", "ftp://qzxwv.example/3.0", "http://localhost.qzxwv.example/3.0", "http://10.0.0.1/qzxwv/3.0",
		}, values{"https://h.example/3.0/", "http://localhost:8080/3.0/", "http://127.8.9.1/3.0", "http://[::1]:99/3.0"}},
		{"base_url", "must be an absolute URL", values{
			"qzxwv.example/3.0/", "https:qzxwv/3.0", "https:///qzxwv/3.0/", "https://:443/qzxwv/3.0/", "https://qzxwv.example/\n/3.0",
		}, values{"https://h:443/3.0", "https://h/%20/3.0"}},
		{"base_url", "must not have a user, query or fragment", values{
			"https://user:qzxwv@h.example/3.0", "https://h.example/3.0/?qzxwv=1", "https://h.example/3.0/?", "https://h.example/3.0#qzxwv",
		}, nil},
		{"base_url", "must end in /3.0/", values{
			"https://qzxwv.example", "https://qzxwv.example/3.0/accounts", "https://qzxwv.example/2.0/", "https://qzxwv.example/3.0//", "https://qzxwv.example/v3.0/",
		}, values{"https://h/a/b/3.0/", "https://h/x/3.0"}},
		{"vendor", "is required", values{""}, values{"v"}},
		{"vendor", "must be letters, digits", values{"qzx wv", "qzx/wv", "qzx+json", "qzx\r\nwv", "éqzx"}, values{"Vendor-1.2_x", "0", "Z"}},
		{"client_id", "is required", values{""}, values{"%"}},
		{"client_id", "must not contain a colon", values{"qzxwv:"}, values{"a b;é"}},
		{"client_id", "line break", values{"qzxwv\n"}, nil},
		{"client_secret", "is required", values{""}, values{"::é "}},
		{"client_secret", "line break", values{"qzxwv\n"}, nil},
		{"user_agent", "must be printable ASCII", values{"qzx\r\nwv", "qzxé", "qzx\x7f"}, values{"acme/1.0 (x)", "", "~"}},
		{"rate_share", "must be above 0 and at most 1", values{-0.9175, 1.9175}, values{1, 0.0001, 0, 0.5}},
		{"refusal_codes", "must consist of lower-case letters", values{values{"a", ""}, values{"QZXWV"}, values{"qzxwv code"}, values{"qzxwv-1"}}, values{values{"a_1"}}},
		{"media_types", "must be like text/plain", values{
			values{"", "Text/qzxwv"}, values{"text/qzxwv; charset=utf-8"}, values{"qzxwv"}, values{"text/qzxwv,a/b"}, values{" text/qzxwv"},
		}, values{values{"", "text/plain", "application/x.a-b+json"}}},
		{"max_response_bytes", "must not be negative", values{-9175}, values{1}},
		{"retry.max_attempts", "must not be negative", values{-9175}, values{1}},
	}
	for _, field := range []string{
		"attempt_timeout", "body_idle_timeout", "retry.min_wait", "retry.max_wait", "retry.max_retry_after", "retry.max_throttle_wait", "retry.in_flight_wait", "retry.token_hold",
	} {
		rules = append(rules, configRule{field, "must not be negative", values{"-9175s"}, values{"1s"}})
	}
	return rules
}

// configured is a valid Config with another value of a setting.
func configured(t *testing.T, field string, value any) prepaid.Config {
	t.Helper()
	if outer, inner, nested := strings.Cut(field, "."); nested {
		field, value = outer, map[string]any{inner: value}
	}
	text, err := json.Marshal(map[string]any{field: value})
	require.NoError(t, err)
	config := harness.ServiceConfig()
	require.NoError(t, json.Unmarshal(text, &config))
	return config
}

// requireConfigFault checks that a Config is refused by exactly one fault, which does not show the value.
func requireConfigFault(t *testing.T, config prepaid.Config, field, rule string) {
	t.Helper()
	client, err := prepaid.NewClient(config)
	require.Nil(t, client)
	require.Equal(t, config.Validate(), err)
	harness.RequireFaults(t, err, "qzxwv", harness.Fault{Field: field, Rule: rule})
	harness.RequireNoPart(t, "9175", err.Error())
}

func TestValidationConfig(t *testing.T) {
	t.Parallel()
	for _, row := range configRules() {
		for _, value := range row.bad {
			requireConfigFault(t, configured(t, row.field, value), row.field, row.rule)
		}
		for _, value := range row.good {
			require.NoError(t, configured(t, row.field, value).Validate(), "%s: %v", row.field, value)
		}
	}
	for rule, change := range map[string]func(*prepaid.Config){ // that JSON cannot hold
		"client_id must be valid UTF-8":                   func(c *prepaid.Config) { c.ClientID = "qzxwv\xff" },
		"client_secret must be valid UTF-8":               func(c *prepaid.Config) { c.ClientSecret = prepaid.NewSecret("qzxwv\xff") },
		"rate_share must be above 0":                      func(c *prepaid.Config) { c.RateShare = math.NaN() },
		"rate_share must be above 0 and at most 1":        func(c *prepaid.Config) { c.RateShare = math.Inf(1) },
		"insecure_http requires the test environment":     func(c *prepaid.Config) { c.InsecureHTTP, c.TestEnvironment = true, false },
		"show_descriptions requires the test environment": func(c *prepaid.Config) { c.ShowDescriptions, c.TestEnvironment = true, false },
	} {
		config := harness.ServiceConfig()
		change(&config)
		field, rule, _ := strings.Cut(rule, " ")
		requireConfigFault(t, config, field, rule)
	}
	config := harness.ServiceConfig()
	config.InsecureHTTP, config.BaseURL = true, "http://emulator:8480/3.0/"
	config.ClientID, config.ClientSecret, config.Token = "", prepaid.Secret{}, harness.StaticToken("t")
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	require.NoError(t, client.Close())
}

// setEnv sets the variables of a valid configuration, changed by the pairs given.
func setEnv(t *testing.T, changes map[string]string) {
	t.Helper()
	values := map[string]string{
		"PREPAID_BASE_URL": "https://service.example/3.0/", "PREPAID_VENDOR": "vendor", "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": "id", "PREPAID_CLIENT_SECRET": "secret", "PREPAID_CLIENT_SECRET_FILE": "",
		"PREPAID_INSECURE_HTTP": "", "PREPAID_RETRY_MIN_WAIT": "", "PREPAID_ATTEMPT_TIMEOUTS": "", "PREPAID_TEST_ENVIRONMENT": "", "PREPAID_VENDOR_PORT": "",
	}
	maps.Copy(values, changes)
	for name, value := range values {
		t.Setenv(name, value)
	}
}

func TestValidationConfigFromEnv(t *testing.T) {
	secretFile := filepath.Join(t.TempDir(), "secret")
	require.NoError(t, os.WriteFile(secretFile, []byte("from file: é\r\n"), 0o600))
	emptyFile := filepath.Join(t.TempDir(), "empty")
	require.NoError(t, os.WriteFile(emptyFile, []byte("\n"), 0o600))
	missing := filepath.Join(t.TempDir(), "qzxwv")
	for set, want := range map[string]string{ // variables and faults are separated by "|", and lack PREPAID_
		"ENVIRONMENT=TEST":                                          `ENVIRONMENT must be "test" or "production"`,
		"CLIENT_SECRET=":                                            "CLIENT_SECRET or PREPAID_CLIENT_SECRET_FILE is required",
		"CLIENT_SECRET=qzxwv\xff":                                   "CLIENT_SECRET must be valid UTF-8",
		"CLIENT_SECRET=[REDACTED]":                                  "CLIENT_SECRET must not be [REDACTED]",
		"CLIENT_SECRET=|CLIENT_SECRET_FILE=" + missing:              "CLIENT_SECRET_FILE must name a readable file",
		"CLIENT_SECRET=|CLIENT_SECRET_FILE=" + emptyFile:            "CLIENT_SECRET_FILE must name a file that is not empty",
		"BASE_URL=|VENDOR=|CLIENT_ID=|CLIENT_SECRET=":               "BASE_URL is|VENDOR is|CLIENT_ID is required without Config.Token|CLIENT_SECRET or",
		"BASE_URL=|ENVIRONMENT=qzxwv|CLIENT_ID=|INSECURE_HTTP=true": "BASE_URL is|INSECURE_HTTP requires|CLIENT_ID is|ENVIRONMENT must",
		"ATTEMPT_TIMEOUTS=qzxwv|PROXY_URL=":                         "ATTEMPT_TIMEOUTS is not a setting",
		"TEST_ENVIRONMENT=true":                                     "TEST_ENVIRONMENT is not a setting: set PREPAID_ENVIRONMENT",
		"VENDOR_PORT=qzxwv":                                         "VENDOR_PORT is not a setting",
		// A missing value does not hide a wrong one.
		"BASE_URL=http://qzxwv.example|VENDOR=|CLIENT_ID=qzxwv:": "BASE_URL must be https|BASE_URL must end|VENDOR is|CLIENT_ID must",
	} {
		if runtime.GOOS == "windows" && strings.Contains(want, "valid UTF-8") {
			continue // its environment is UTF-16
		}
		changes := map[string]string{}
		for variable := range strings.SplitSeq(set, "|") {
			name, value, _ := strings.Cut(variable, "=")
			changes["PREPAID_"+name] = value
		}
		setEnv(t, changes)
		config, err := prepaid.ConfigFromEnv()
		require.Equal(t, prepaid.Config{}, config)
		_, bare := err.(*prepaid.ValidationError)
		require.True(t, bare, "no call, no CallError")
		var faults []harness.Fault
		for fault := range strings.SplitSeq(want, "|") {
			name, rule, _ := strings.Cut(fault, " ")
			faults = append(faults, harness.Fault{Field: "PREPAID_" + name, Rule: rule})
		}
		harness.RequireFaults(t, err, "qzxwv", faults...)
	}

	for _, row := range []struct {
		set    map[string]string
		test   bool
		secret string
	}{
		{nil, true, "secret"},
		{map[string]string{"PREPAID_ENVIRONMENT": ""}, false, "secret"},
		{map[string]string{"PREPAID_ENVIRONMENT": "production"}, false, "secret"},
		{map[string]string{"PREPAID_CLIENT_SECRET": "", "PREPAID_CLIENT_SECRET_FILE": secretFile}, true, "from file: é"},
		{map[string]string{"PREPAID_CLIENT_SECRET_FILE": missing}, true, "secret"}, // the variable comes first
		{map[string]string{ // of tools and of Kubernetes
			"PREPAID_EMULATOR_LISTEN": "a", "PREPAID_TEST_POSTGRES": "a", "PREPAID_SERVICE_HOST": "a", "PREPAID_API_SERVICE_PORT": "1", "PREPAID_PORT": "tcp://a",
			"PREPAID_PORT_443_TCP_ADDR": "a",
		}, true, "secret"},
	} {
		setEnv(t, row.set)
		config, err := prepaid.ConfigFromEnv()
		require.NoError(t, err)
		require.Equal(t, row.test, config.TestEnvironment)
		require.Equal(t, row.secret, config.ClientSecret.Reveal())
		require.Equal(t, "id", config.ClientID)
		require.Equal(t, "vendor", config.Vendor)
		require.True(t, strings.HasPrefix(config.BaseURL, "https://"))
	}
}

// A Config without credentials can be read, for a token source; alone it makes no client.
func TestConfigFromEnvForItsOwnTokens(t *testing.T) {
	setEnv(t, map[string]string{"PREPAID_CLIENT_ID": "", "PREPAID_CLIENT_SECRET": ""})
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	_, err = prepaid.NewClient(config)
	harness.RequireFaults(t, err, "", harness.Fault{Field: "client_id", Rule: "is required"}, harness.Fault{Field: "client_secret", Rule: "is required"})
	config.Token = harness.StaticToken("t")
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	require.NoError(t, client.Close())
}
