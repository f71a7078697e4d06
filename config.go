package prepaid

import (
	"context"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"
)

// Environment says which of the service's two environments [Config].BaseURL belongs to.
type Environment string

const (
	// EnvironmentProduction is the zero value: the simulator is refused with [ErrTestOnly] before any I/O.
	EnvironmentProduction Environment = ""
	// EnvironmentTest allows Client.Simulation.
	EnvironmentTest Environment = "test"
)

// Config is everything a [Client] can be told. BaseURL, Vendor and Credentials (or TokenSource) are required; the
// zero value of every other field is its stated default. Fields with JSON names can be read from a file; a Config
// prints and marshals without its secret.
type Config struct {
	// BaseURL is the service's address: https unless it is on loopback, ending in /3.0 or /3.0/. Required.
	BaseURL string `json:"base_url"`
	// Vendor is the word in the media type application/vnd.<vendor>+json. Required.
	Vendor string `json:"vendor"`
	// Environment is production when empty; the simulator needs EnvironmentTest.
	Environment Environment `json:"environment,omitzero"`
	// Credentials are the OAuth client credentials. Required unless TokenSource is set.
	Credentials Credentials `json:"credentials,omitzero"`

	// UserAgent is a product token put after the SDK's own, such as "acme-cards/1.4".
	UserAgent string `json:"user_agent,omitzero"`
	// AttemptTimeout bounds one attempt, headers and body: 30 s when zero. The context bounds the whole call.
	AttemptTimeout time.Duration `json:"attempt_timeout,omitzero"`
	// BodyIdleTimeout bounds each pause of a streamed report: 30 s when zero.
	BodyIdleTimeout time.Duration `json:"body_idle_timeout,omitzero"`
	// MaxResponseBytes bounds an answer held in memory: 32 MiB when zero, at most 1 GiB. Streamed reports are not bounded by it.
	MaxResponseBytes int64 `json:"max_response_bytes,omitzero"`
	// Retry bounds the attempts of one call.
	Retry RetryPolicy `json:"retry,omitzero"`
	// RateShare is this process's share of the 1,000 requests per 10 s that the service allows an address, above 0
	// and up to 1; 1 when zero. Give each of four replicas behind one address 0.25.
	RateShare float64 `json:"rate_share,omitzero"`

	// TokenSource replaces the built-in token manager.
	TokenSource TokenSource `json:"-"`
	// Transport sends the requests: a tuned http.Transport when nil. Redirects are never followed. An error of it with a
	// method NotSent() bool that returns true is believed that the request never left: the call was not processed, and
	// is not sent again.
	Transport http.RoundTripper `json:"-"`
	// Limiter admits the attempts: the built-in slot limiter when nil, NoLimiter{} to switch off.
	Limiter Limiter `json:"-"`
	// Logger gets one record a call and one a repeated attempt: operation, path template, status, duration, outcome,
	// never a body, a query or a header. Silent when nil.
	Logger *slog.Logger `json:"-"`
	// Trace observes every call; see [JoinTraces] for more than one.
	Trace *Trace `json:"-"`
	// Propagate returns the trace context to send with an attempt, such as a traceparent header, from the attempt's
	// context. Names that say something else to the service or to a proxy (authorization, cookies, content, connection,
	// idempotency) are left out, and so are values that are not printable ASCII. It must not change what the service
	// does. None is sent when nil: the service is not the caller's own.
	Propagate func(ctx context.Context) http.Header `json:"-"`
}

// RetryPolicy bounds the attempts of one call. Whether a call may be repeated at all is fixed per operation. The
// zero value of each field is its stated default.
type RetryPolicy struct {
	// MaxAttempts bounds the requests of one call: 4 when zero; 1 means never again. Those answered with 429 do not
	// count, nor does one 401 that is answered with another token.
	MaxAttempts int `json:"max_attempts,omitzero"`
	// MinWait is the pause before the second attempt, doubled for each further one, half of it jitter: 250 ms.
	MinWait time.Duration `json:"min_wait,omitzero"`
	// MaxWait bounds the pause: 10 s.
	MaxWait time.Duration `json:"max_wait,omitzero"`
	// MaxRetryAfter is the longest Retry-After that is waited for; a longer one ends the call: 15 s.
	MaxRetryAfter time.Duration `json:"max_retry_after,omitzero"`
	// MaxThrottleWait bounds the time from the first 429 of a call to its last attempt: 60 s.
	MaxThrottleWait time.Duration `json:"max_throttle_wait,omitzero"`
	// InFlightWait is the least pause before a keyed transfer whose last attempt was cut off is sent again: 10 s. The
	// service caches only finished transfers, so the first must have time to finish.
	InFlightWait time.Duration `json:"in_flight_wait,omitzero"`
}

// Validate returns all faults of c at once as a *ValidationError.
func (c Config) Validate() error {
	v := validator{}
	c.check(&v)
	if len(v.faults) > 0 {
		return &ValidationError{Faults: v.faults}
	}
	return nil
}

func (c Config) check(v *validator) {
	c.checkBaseURL(v)
	if c.Vendor == "" {
		v.fault("vendor", ruleRequired)
	} else if !isToken(c.Vendor) {
		v.fault("vendor", "must be letters, digits, '.', '-' or '_'")
	}
	if c.Environment != EnvironmentProduction && c.Environment != EnvironmentTest {
		v.fault("environment", `must be empty (production) or "test"`)
	}
	if c.TokenSource == nil {
		v.required("credentials.client_id", c.Credentials.ClientID)
		if strings.ContainsRune(c.Credentials.ClientID, ':') {
			v.fault("credentials.client_id", "must not hold a colon")
		}
		v.required("credentials.client_secret", c.Credentials.ClientSecret.Reveal())
	}
	if strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		v.fault("user_agent", "must be printable ASCII")
	}
	for _, limit := range []struct {
		field string
		value int64
	}{
		{"attempt_timeout", int64(c.AttemptTimeout)},
		{"body_idle_timeout", int64(c.BodyIdleTimeout)},
		{"max_response_bytes", c.MaxResponseBytes},
		{"retry.max_attempts", int64(c.Retry.MaxAttempts)},
		{"retry.min_wait", int64(c.Retry.MinWait)},
		{"retry.max_wait", int64(c.Retry.MaxWait)},
		{"retry.max_retry_after", int64(c.Retry.MaxRetryAfter)},
		{"retry.max_throttle_wait", int64(c.Retry.MaxThrottleWait)},
		{"retry.in_flight_wait", int64(c.Retry.InFlightWait)},
	} {
		if limit.value < 0 {
			v.fault(limit.field, "must not be negative")
		}
		if limit.field == "max_response_bytes" && limit.value > maxMaxResponseBytes {
			v.fault(limit.field, "must be at most 1 GiB")
		}
	}
	if c.RateShare < 0 || c.RateShare > 1 || c.RateShare != c.RateShare {
		v.fault("rate_share", "must be above 0 and at most 1")
	}
}

const maxMaxResponseBytes = 1 << 30

func (c Config) checkBaseURL(v *validator) {
	if c.BaseURL == "" {
		v.fault("base_url", ruleRequired)
		return
	}
	u, err := url.Parse(c.BaseURL)
	if err != nil || u.Hostname() == "" || u.Opaque != "" {
		v.fault("base_url", "must be an absolute address")
		return
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname())) {
		v.fault("base_url", "must be https, or http on loopback")
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		v.fault("base_url", "must have no user, query or fragment")
	}
	if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/3.0") {
		v.fault("base_url", "must end in /3.0/")
	}
}

func isLoopback(host string) bool {
	if host == "localhost" {
		return true
	}
	ip := net.ParseIP(host)
	return ip != nil && ip.IsLoopback()
}

func isToken(text string) bool {
	return !strings.ContainsFunc(text, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && r != '.' && r != '-' && r != '_'
	})
}

// withDefaults fills in what was left zero.
func (c Config) withDefaults() Config {
	orDuration(&c.AttemptTimeout, 30*time.Second)
	orDuration(&c.BodyIdleTimeout, 30*time.Second)
	orDuration(&c.Retry.MinWait, 250*time.Millisecond)
	orDuration(&c.Retry.MaxWait, 10*time.Second)
	orDuration(&c.Retry.MaxRetryAfter, 15*time.Second)
	orDuration(&c.Retry.MaxThrottleWait, time.Minute)
	orDuration(&c.Retry.InFlightWait, 10*time.Second)
	if c.MaxResponseBytes == 0 {
		c.MaxResponseBytes = 32 << 20
	}
	if c.Retry.MaxAttempts == 0 {
		c.Retry.MaxAttempts = 4
	}
	if c.RateShare == 0 {
		c.RateShare = 1
	}
	if c.Logger == nil {
		c.Logger = slog.New(slog.DiscardHandler)
	}
	return c
}

func orDuration(d *time.Duration, value time.Duration) {
	if *d == 0 {
		*d = value
	}
}

// ConfigFromEnv reads PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT ("test"; "production" when unset),
// PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET or, when that is unset, the file that PREPAID_CLIENT_SECRET_FILE names.
// It returns all faults at once as a *ValidationError whose fields are the names of the variables.
func ConfigFromEnv() (Config, error) {
	config := Config{
		BaseURL:     os.Getenv("PREPAID_BASE_URL"),
		Vendor:      os.Getenv("PREPAID_VENDOR"),
		Environment: Environment(os.Getenv("PREPAID_ENVIRONMENT")),
		Credentials: Credentials{ClientID: os.Getenv("PREPAID_CLIENT_ID")},
	}
	if config.Environment == "production" {
		config.Environment = EnvironmentProduction
	}
	secret, unreadable := os.Getenv("PREPAID_CLIENT_SECRET"), false
	if file := os.Getenv("PREPAID_CLIENT_SECRET_FILE"); file != "" && secret == "" {
		content, err := os.ReadFile(file)
		secret, unreadable = strings.TrimRight(string(content), "\r\n"), err != nil
	}
	config.Credentials.ClientSecret = NewSecret(secret)
	v := validator{}
	for _, fault := range faultsOf(config.Validate()) {
		if name := envName(fault.Field); unreadable && name == "PREPAID_CLIENT_SECRET" {
			v.fault("PREPAID_CLIENT_SECRET_FILE", "must name a readable file")
		} else {
			v.fault(name, fault.Rule)
		}
	}
	if len(v.faults) > 0 {
		return Config{}, &ValidationError{Faults: v.faults}
	}
	return config, nil
}

// envName turns "credentials.client_id" into "PREPAID_CLIENT_ID".
func envName(field string) string {
	return "PREPAID_" + strings.ToUpper(strings.TrimPrefix(field, "credentials."))
}
