package contract

import (
	"maps"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// The fields of Config: those the reference forms (addresses in section 9, the media type in 1, credentials in 4.1,
// the rate in 8), and the client's own.
func configLimits() []limit[prepaid.Config] {
	type P = prepaid.Config
	base := func(p *P) *string { return &p.BaseURL }
	vendor := func(p *P) *string { return &p.Vendor }
	rows := []limit[P]{
		forms("base_url", "is required", base, [2]string{"", "https://h/3.0"})[0],
		forms("vendor", "is required", vendor, [2]string{"", "v"})[0],
		needed("client_id", func(p *P) *string { return &p.ClientID }),
		forms("client_id", "must not contain a colon", func(p *P) *string { return &p.ClientID }, [2]string{"qZ7x:", "a b;é"})[0],
		forms("client_id", "valid UTF-8", func(p *P) *string { return &p.ClientID }, [2]string{"qZ7x\xff", "%"})[0],
		{field: "client_secret", rule: "is required", bad: func(p *P) { p.ClientSecret = prepaid.Secret{} },
			good: func(p *P) { p.ClientSecret = prepaid.NewSecret("::é ") },
		},
		{field: "client_secret", rule: "line break", shown: "qZ7x",
			bad: func(p *P) { p.ClientSecret = prepaid.NewSecret("qZ7x\n") }, good: func(*P) {},
		},
		forms("client_id", "line break", func(p *P) *string { return &p.ClientID }, [2]string{"qZ7x\n", "%"})[0],
		{field: "client_secret", rule: "valid UTF-8", shown: "qZ7x",
			bad: func(p *P) { p.ClientSecret = prepaid.NewSecret("qZ7x\xff") }, good: func(*P) {},
		},
	}
	rows = append(rows, showing("qzxwv", forms("base_url", "must be https, or http on loopback", base,
		[2]string{"http://qzxwv.example/3.0/", "https://h.example/3.0/"}, [2]string{"ftp://qzxwv.example/3.0", "http://localhost:8080/3.0/"},
		[2]string{"http://localhost.qzxwv.example/3.0", "http://127.8.9.1/3.0"}, [2]string{"http://10.0.0.1/qzxwv/3.0", "http://[::1]:99/3.0"})...)...)
	rows = append(rows, showing("qzxwv", forms("base_url", "must be an absolute URL", base,
		[2]string{"qzxwv.example/3.0/", "https://h/3.0"}, [2]string{"https:qzxwv/3.0", "https://h/3.0"}, [2]string{"https:///qzxwv/3.0/", "https://h/3.0"},
		[2]string{"https://:443/qzxwv/3.0/", "https://h:443/3.0"}, [2]string{"https://qzxwv.example/\n/3.0", "https://h/%20/3.0"})...)...)
	rows = append(rows, showing("qzxwv", forms("base_url", "must not have a user, query or fragment", base,
		[2]string{"https://user:qzxwv@h.example/3.0", "https://h/3.0"}, [2]string{"https://h.example/3.0/?qzxwv=1", "https://h/3.0"},
		[2]string{"https://h.example/3.0/?", "https://h/3.0"}, [2]string{"https://h.example/3.0#qzxwv", "https://h/3.0"})...)...)
	rows = append(rows, showing("qzxwv", forms("base_url", "must end in /3.0/", base,
		[2]string{"https://qzxwv.example", "https://h/3.0"}, [2]string{"https://qzxwv.example/3.0/accounts", "https://h/a/b/3.0/"},
		[2]string{"https://qzxwv.example/2.0/", "https://h/3.0/"}, [2]string{"https://qzxwv.example/3.0//", "https://h/x/3.0"},
		[2]string{"https://qzxwv.example/v3.0/", "https://h/3.0/"})...)...)
	rows = append(rows, forms("vendor", "must be letters, digits", vendor,
		[2]string{"qzx wv", "Vendor-1.2_x"}, [2]string{"qzx/wv", "0"}, [2]string{"qzx+json", "Z"}, [2]string{"qzx\r\nwv", "v"}, [2]string{"éqzx", "v"})...)
	rows = append(rows, forms("user_agent", "must be printable ASCII", func(p *P) *string { return &p.UserAgent },
		[2]string{"qzx\r\nwv", "acme/1.0 (x)"}, [2]string{"qzxé", ""}, [2]string{"qzx\x7f", "~"})...)
	for bad, good := range map[float64]float64{-0.9175: 1, 1.9175: 0.0001, math.NaN(): 0, math.Inf(1): 0.5} {
		rows = append(rows, limit[P]{field: "rate_share", rule: "must be above 0 and at most 1", shown: "9175",
			bad: func(p *P) { p.RateShare = bad }, good: func(p *P) { p.RateShare = good },
		})
	}
	for _, bad := range []prepaid.ErrorCode{"", "QZXWV", "qzxwv code", "qzxwv-1"} {
		rows = append(rows, limit[P]{
			field: "refusal_codes", rule: "must consist of lower-case letters", shown: "qzxwv",
			bad: func(p *P) { p.RefusalCodes = []prepaid.ErrorCode{"a", bad} }, good: func(p *P) { p.RefusalCodes = []prepaid.ErrorCode{"a_1"} },
		})
	}
	for _, bad := range []string{"Text/qzxwv", "text/qzxwv; charset=utf-8", "qzxwv", "text/qzxwv,a/b", " text/qzxwv"} {
		rows = append(rows, limit[P]{
			field: "media_types", rule: "must be like text/plain", shown: "qzxwv",
			bad: func(p *P) { p.MediaTypes = []string{"", bad} }, good: func(p *P) { p.MediaTypes = []string{"", "text/plain", "application/x.a-b+json"} },
		})
	}
	for field, at := range map[string]func(*P) *time.Duration{
		"attempt_timeout":         func(p *P) *time.Duration { return &p.AttemptTimeout },
		"body_idle_timeout":       func(p *P) *time.Duration { return &p.BodyIdleTimeout },
		"retry.min_wait":          func(p *P) *time.Duration { return &p.Retry.MinWait },
		"retry.max_wait":          func(p *P) *time.Duration { return &p.Retry.MaxWait },
		"retry.max_retry_after":   func(p *P) *time.Duration { return &p.Retry.MaxRetryAfter },
		"retry.max_throttle_wait": func(p *P) *time.Duration { return &p.Retry.MaxThrottleWait },
		"retry.in_flight_wait":    func(p *P) *time.Duration { return &p.Retry.InFlightWait },
		"retry.token_hold":        func(p *P) *time.Duration { return &p.Retry.TokenHold },
	} {
		rows = append(rows, limit[P]{field: field, rule: "must not be negative", shown: "-9175", bad: put(at, -9175), good: put(at, 1)})
	}
	return append(rows,
		limit[P]{
			field: "insecure_http", rule: "requires the test environment", bad: func(p *P) { p.InsecureHTTP, p.TestEnvironment = true, false },
			good: func(p *P) {
				p.InsecureHTTP, p.TestEnvironment, p.BaseURL = true, true, "http://emulator:8480/3.0/"
			},
		},
		limit[P]{
			field: "show_descriptions", rule: "requires the test environment",
			bad: func(p *P) { p.ShowDescriptions, p.TestEnvironment = true, false }, good: func(p *P) { p.ShowDescriptions = true },
		},
		limit[P]{field: "max_response_bytes", rule: "must not be negative", bad: func(p *P) { p.MaxResponseBytes = -1 }, good: func(p *P) { p.MaxResponseBytes = 1 }},
		limit[P]{field: "retry.max_attempts", rule: "must not be negative", bad: func(p *P) { p.Retry.MaxAttempts = -1 }, good: func(p *P) { p.Retry.MaxAttempts = 1 }})
}

func TestValidationConfig(t *testing.T) {
	t.Parallel()
	require.NoError(t, harness.ServiceConfig().Validate())
	for _, row := range configLimits() {
		t.Run(row.field+" "+row.rule, func(t *testing.T) {
			t.Parallel()
			config := harness.ServiceConfig()
			row.bad(&config)
			client, err := prepaid.NewClient(config)
			require.Nil(t, client)
			require.Equal(t, config.Validate(), err)
			harness.RequireFaults(t, err, row.shown, harness.Fault{Field: row.field, Rule: row.rule})
			config = harness.ServiceConfig()
			row.good(&config)
			require.NoError(t, config.Validate())
			client, err = prepaid.NewClient(config)
			require.NoError(t, err)
			require.NoError(t, client.Close())
		})
	}
	withSource := harness.ServiceConfig()
	withSource.ClientID, withSource.ClientSecret, withSource.TokenSource = "", prepaid.Secret{}, harness.StaticToken("t")
	require.NoError(t, withSource.Validate())
}

// setEnv sets the variables of a valid configuration, changed by the pairs given.
func setEnv(t *testing.T, changes map[string]string) {
	t.Helper()
	values := map[string]string{
		"PREPAID_BASE_URL": "https://service.example/3.0/", "PREPAID_VENDOR": "vendor", "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": "id", "PREPAID_CLIENT_SECRET": "secret", "PREPAID_CLIENT_SECRET_FILE": "",
		"PREPAID_INSECURE_HTTP": "", "PREPAID_RETRY_MIN_WAIT": "",
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
		"BASE_URL=http://qzxwv.example/3.0":                         "BASE_URL must be https",
		"VENDOR=qzxwv/":                                             "VENDOR must be letters, digits",
		"ENVIRONMENT=TEST":                                          `ENVIRONMENT must be "test" or "production"`,
		"CLIENT_ID=qzxwv:":                                          "CLIENT_ID must not contain a colon",
		"CLIENT_ID=qzxwv\n":                                         "CLIENT_ID must not contain a line break",
		"CLIENT_SECRET=":                                            "CLIENT_SECRET or PREPAID_CLIENT_SECRET_FILE is required",
		"CLIENT_SECRET=qzxwv\xff":                                   "CLIENT_SECRET must be valid UTF-8",
		"CLIENT_SECRET=[REDACTED]":                                  "CLIENT_SECRET must not be [REDACTED]",
		"CLIENT_SECRET=|CLIENT_SECRET_FILE=" + missing:              "CLIENT_SECRET_FILE must name a readable file",
		"CLIENT_SECRET=|CLIENT_SECRET_FILE=" + emptyFile:            "CLIENT_SECRET_FILE must name a file that is not empty",
		"BASE_URL=|VENDOR=|CLIENT_ID=|CLIENT_SECRET=":               "BASE_URL is|VENDOR is|CLIENT_ID is required without a TokenSource|CLIENT_SECRET or",
		"BASE_URL=|ENVIRONMENT=qzxwv|CLIENT_ID=|INSECURE_HTTP=true": "BASE_URL is|INSECURE_HTTP requires|CLIENT_ID is|ENVIRONMENT must",
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
func TestConfigFromEnvForATokenSource(t *testing.T) {
	setEnv(t, map[string]string{"PREPAID_CLIENT_ID": "", "PREPAID_CLIENT_SECRET": ""})
	config, err := prepaid.ConfigFromEnv()
	require.NoError(t, err)
	_, err = prepaid.NewClient(config)
	harness.RequireFaults(t, err, "", harness.Fault{Field: "client_id", Rule: "is required"}, harness.Fault{Field: "client_secret", Rule: "is required"})
	config.TokenSource = harness.StaticToken("t")
	client, err := prepaid.NewClient(config)
	require.NoError(t, err)
	require.NoError(t, client.Close())
}
