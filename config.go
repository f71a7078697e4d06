package prepaid

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"reflect"
	"regexp"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid/internal/redact"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Config holds all settings of a [Client]. BaseURL, Vendor, ClientID and ClientSecret (or Token) are required; zero in any other
// field means the default stated there. Fields that hold data can be read from JSON and YAML, with durations such as "30s", and from the
// environment ([ConfigFromEnv]). A Config prints and marshals without its secret.
type Config struct {
	// BaseURL is the service's address, which ends in /3.0 or /3.0/: https, or http on loopback or with InsecureHTTP. Required.
	BaseURL string `json:"base_url" yaml:"base_url"`
	// Vendor is the vendor in the media type application/vnd.<vendor>+json. Required.
	Vendor string `json:"vendor" yaml:"vendor"`
	// TestEnvironment means that BaseURL is that of the test environment, and allows Client.Simulation. Default: production.
	TestEnvironment bool `json:"test_environment,omitzero" yaml:"test_environment,omitempty"`
	// InsecureHTTP accepts http in BaseURL for any host, such as an emulator in another container. It requires TestEnvironment: the client
	// secret, tokens and personal data are sent unencrypted. NewClient logs a warning about such a BaseURL.
	InsecureHTTP bool `json:"insecure_http,omitzero" yaml:"insecure_http,omitempty"`
	// ClientID is the OAuth client ID, not an account's client_id ([SearchAccountsParams].ProgramClientID). Required without Token.
	ClientID string `json:"client_id,omitzero" yaml:"client_id,omitempty"`
	// ClientSecret is the OAuth client secret. It is never printed. Required without Token.
	ClientSecret Secret `json:"client_secret,omitzero" yaml:"client_secret,omitempty"`

	// UserAgent is a product token that follows the SDK's own, such as "acme-cards/1.4".
	UserAgent string `json:"user_agent,omitzero" yaml:"user_agent,omitempty"`
	// AttemptTimeout limits one attempt, headers and body. Default: 30 s. The context bounds the whole call. AttemptTimeout is also part of
	// the pause before a transfer is sent again, see [RetryPolicy].InFlightWait.
	AttemptTimeout time.Duration `json:"attempt_timeout,omitzero" yaml:"attempt_timeout,omitempty"`
	// BodyIdleTimeout limits each pause in a streamed report. Default: 30 s.
	BodyIdleTimeout time.Duration `json:"body_idle_timeout,omitzero" yaml:"body_idle_timeout,omitempty"`
	// MaxResponseBytes limits a response held in memory. Default: 32 MiB; at most 1 GiB. It does not limit streamed reports.
	MaxResponseBytes int64 `json:"max_response_bytes,omitzero" yaml:"max_response_bytes,omitempty"`
	// Retry bounds the attempts of one call.
	Retry RetryPolicy `json:"retry,omitzero" yaml:"retry,omitempty"`
	// RefusalCodes are codes of a 400. Like invalid_request, they prove that an earlier request with the same request ID moved no money: see
	// [ProvesNotApplied]. The reference lists no codes for transfers. List a code only if the operator confirms that the service never uses it
	// to refuse a transfer that has been carried out or is still in progress: a wrong code makes a completed payment look rejected.
	RefusalCodes []ErrorCode `json:"refusal_codes,omitzero" yaml:"refusal_codes,omitempty"`
	// MediaTypes are further media types of responses that the client accepts as the service's, if a proxy replaces
	// application/vnd.<vendor>+json. Write them in lower case, without parameters; "" accepts a response without a media type. Default: none;
	// application/json is always accepted. With any other media type, a 200 of an operation that moves money has an unknown outcome. Do not
	// list the type of the proxy's own pages: such a page could then report that a payment failed. Responses of these types prove neither that
	// the service has responded ([AccountsService.AwaitRepeat]) nor that an earlier request was not applied ([ProvesNotApplied]).
	MediaTypes []string `json:"media_types,omitzero" yaml:"media_types,omitempty"`
	// NeverRepeatLoads is for a service that may not cache a load ([TransferTypeLoad]) under its request ID, so that each repeat would pay
	// again. The reference can be read both ways: ask the operator. By default a load is repeated like any transfer. With NeverRepeatLoads,
	// another attempt follows only if nothing was sent, or after a 429 or 401. If the outcome of the load is unknown (LastSent is set, or this
	// client remembers it), another call with its ID sends nothing: it returns [ErrRequestIDExpired], and FindMovement may find the load. So
	// does a call for a load that this client has made, with [OutcomeApplied].
	NeverRepeatLoads bool `json:"never_repeat_loads,omitzero" yaml:"never_repeat_loads,omitempty"`
	// RateShare is this process's share of the 1,000 requests per 10 s that the service allows per address: above 0, at most 1. Default: 1.
	// For four replicas behind one address, use 0.25. A slot is free again 10 s after its response: if the reads of a new process use up a
	// small share at once, payments wait up to 10 s. Give payments a longer deadline.
	RateShare float64 `json:"rate_share,omitzero" yaml:"rate_share,omitempty"`
	// SkipValueChecks sends values that the client would otherwise refuse. Set it if the service accepts more than this version knows. You
	// lose the early, complete list of faults: the service reports a mistyped value after the request, or not at all. It disables every rule
	// but these, which prevent requests that you did not mean:
	//
	//   - A path value of an operation that changes something (also of a report start) is not "." or "..", and has no slash, backslash,
	//     percent sign or control character, which a gateway may decode into another operation. In a read, no segment is "." or "..".
	//   - A required field is not empty and a required number is not zero. This rule does not apply to registrations, portal identifiers, and
	//     source and destination references. IDs of companies and acquirers are set. Lists have at least one item.
	//   - A request ID has at most 100 characters. The amount of a payment is above zero. Other amounts are not below zero, except the
	//     simulator's, and zero only where that is usual; AllowUnusual lifts both limits where there is such a field.
	//   - Unwritable values are refused: invalid UTF-8, days that do not exist, and transaction IDs and rule categories that are no numbers.
	//   - Fields do not contradict each other (windows, paging, lists of Ensure methods). [Client.Do] refuses operations that move money.
	//   - Secrets, keys and the PIN envelope have the required form, and the Config and [Overrides] are valid.
	SkipValueChecks bool `json:"skip_value_checks,omitzero" yaml:"skip_value_checks,omitempty"`
	// ShowDescriptions adds APIError.Description to the text of each error of the service, and so to the log: on one line, at most 200
	// characters, with unprintable characters replaced. The description may repeat request data, such as a cardholder's name: set it only if
	// the data is synthetic. It requires TestEnvironment.
	ShowDescriptions bool `json:"show_descriptions,omitzero" yaml:"show_descriptions,omitempty"`

	// Token replaces the built-in token manager. It returns a token to use now, or an error as soon as ctx is done. If rejected is not
	// nil, the service has just refused that token with 401. If the source returns it again, the call ends with that 401. The built-in manager
	// renews a token in the background when less than 10 minutes remain (section 5.4), but not in the token's first minute. A token that lives
	// 10 minutes or less is renewed at half its life.
	Token func(ctx context.Context, rejected *oauth2.Token) (*oauth2.Token, error) `json:"-" yaml:"-"`
	// Transport sends the requests. Default: [transport.New]. For a proxy or a client certificate, change the result of New: a plain
	// &http.Transport{} keeps only 2 idle connections to the service. Redirects are never followed. The comment of package transport has the
	// rules for a RoundTripper of your own, for a dialer, and for limits of connections.
	Transport http.RoundTripper `json:"-" yaml:"-"`
	// Limiter admits the attempts; [ratelimit.None] admits all. By default the client limits itself to 1,000 requests per 10 s from each
	// address, times RateShare; the comment of package ratelimit describes that limiter.
	Limiter ratelimit.Limiter `json:"-" yaml:"-"`
	// Logger gets a record per repeat (level warn) and per call: error if the outcome is unknown, info after other failures, else debug (also
	// if a report is not ready). Each has operation, path template, status, duration and outcome, but no body, query or header. Default: none.
	Logger *slog.Logger `json:"-" yaml:"-"`
	// Trace observes every call. For more than one, use [Trace.Join].
	Trace *Trace `json:"-" yaml:"-"`
	// Propagate returns the trace context of an attempt's context as headers to send, such as traceparent. Headers with another meaning for
	// the service or a proxy (authorization, cookies, content, connection, idempotency) are dropped, and so are values that are not printable
	// ASCII. The headers must not change the effect of the request. By default nothing is sent: the service belongs to another organisation.
	Propagate func(ctx context.Context) http.Header `json:"-" yaml:"-"`
}

// RetryPolicy bounds the attempts of one call. Whether a call may be repeated at all is fixed per operation. Zero means the default.
type RetryPolicy struct {
	// MaxAttempts limits the requests of one call. Default: 4; 1 means no retry. These requests do not count: those refused with 429; one
	// refused with 401 (a report start: also 400) and repeated with another token; and the first read lost because a kept connection closes.
	MaxAttempts int `json:"max_attempts,omitzero" yaml:"max_attempts,omitempty"`
	// MinWait is the pause before the second attempt. It doubles with each attempt; half of it is jitter. Default: 250 ms.
	MinWait time.Duration `json:"min_wait,omitzero" yaml:"min_wait,omitempty"`
	// MaxWait limits the pause. Default: 10 s.
	MaxWait time.Duration `json:"max_wait,omitzero" yaml:"max_wait,omitempty"`
	// MaxRetryAfter is the longest Retry-After that a call waits for; a longer one ends the call. Default: 15 s.
	MaxRetryAfter time.Duration `json:"max_retry_after,omitzero" yaml:"max_retry_after,omitempty"`
	// MaxThrottleWait limits the time from the first 429 of a call to the end of its last pause; the limiter can add to it. Default: 60 s.
	MaxThrottleWait time.Duration `json:"max_throttle_wait,omitzero" yaml:"max_throttle_wait,omitempty"`
	// InFlightWait is the time that the service may need to finish a transfer or direct entry out after it arrived. Default: 10 s. A
	// payment of unknown outcome is sent again no earlier than [AccountsService.NotBefore], and no earlier than InFlightWait after
	// responses to later requests ([AccountsService.AwaitRepeat]): the service caches only finished payments. A call whose deadline is earlier
	// ends soon, with unknown outcome. The reference states no limit. A slower service may pay twice: ask the operator, and raise it.
	InFlightWait time.Duration `json:"in_flight_wait,omitzero" yaml:"in_flight_wait,omitempty"`
	// TokenHold limits how long the next token request waits after a failed one. Default: 1 s. Meanwhile, if the credentials were refused,
	// calls fail at once with that error; after any other failure they wait, first 250 ms, then longer. A token that the service has refused
	// is never sent again: all calls wait for a new token, or end unsent ([TokenError]) if it would arrive after their deadline. If several
	// tokens are each refused within TokenHold (at most 1 s) of arrival, the next token is requested that long after the last arrival. 1 ns
	// means no wait. After a failed renewal of a token that is still valid, the next renewal waits 1 s to 1 min; no call waits for it.
	TokenHold time.Duration `json:"token_hold,omitzero" yaml:"token_hold,omitempty"`
}

// Validate returns a *ValidationError that lists all faults of c, or nil.
func (c Config) Validate() error { return validated(c.check) }

// withDefaults returns c with the defaults set.
func (c Config) withDefaults() Config {
	c.AttemptTimeout = cmp.Or(c.AttemptTimeout, 30*time.Second)
	c.BodyIdleTimeout = cmp.Or(c.BodyIdleTimeout, 30*time.Second)
	c.Retry = c.Retry.or(RetryPolicy{
		MaxAttempts: 4, MinWait: 250 * time.Millisecond, MaxWait: 10 * time.Second, MaxRetryAfter: 15 * time.Second,
		MaxThrottleWait: time.Minute, InFlightWait: 10 * time.Second, TokenHold: token.DefaultHold,
	})
	c.MaxResponseBytes = cmp.Or(c.MaxResponseBytes, 32<<20)
	c.RateShare = cmp.Or(c.RateShare, 1)
	c.RefusalCodes, c.MediaTypes = slices.Clone(c.RefusalCodes), slices.Clone(c.MediaTypes) // the caller may change them
	c.Logger = cmp.Or(c.Logger, slog.New(slog.DiscardHandler))
	return c
}

// or returns p with its zero fields set to those of other.
func (p RetryPolicy) or(other RetryPolicy) RetryPolicy {
	return RetryPolicy{
		MaxAttempts: cmp.Or(p.MaxAttempts, other.MaxAttempts),
		MinWait:     cmp.Or(p.MinWait, other.MinWait), MaxWait: cmp.Or(p.MaxWait, other.MaxWait),
		MaxRetryAfter: cmp.Or(p.MaxRetryAfter, other.MaxRetryAfter), MaxThrottleWait: cmp.Or(p.MaxThrottleWait, other.MaxThrottleWait),
		InFlightWait: cmp.Or(p.InFlightWait, other.InFlightWait), TokenHold: cmp.Or(p.TokenHold, other.TokenHold),
	}
}

// MarshalJSON writes data fields, durations as "30s", the secret as [REDACTED].
func (c Config) MarshalJSON() ([]byte, error) {
	type plain Config
	return json.Marshal(plain(c), json.WithMarshalers(json.MarshalToFunc(func(e *jsontext.Encoder, d time.Duration) error {
		return e.WriteToken(jsontext.String(d.String()))
	})))
}

// UnmarshalJSON sets the fields that are present and leaves the others unchanged. An unknown member is an error: otherwise a mistyped
// setting would have no effect. In a struct of your own, give the Config a field name: if it is embedded, this method reads the whole
// struct. Errors: a *[ValidationError] that names the member and the rule, never the value; [ErrSyntax].
func (c *Config) UnmarshalJSON(data []byte) error {
	type plain Config
	read := *c
	err := json.Unmarshal(data, (*plain)(&read), json.RejectUnknownMembers(true), json.WithUnmarshalers(json.UnmarshalFromFunc(readDuration)))
	if err != nil {
		return configFault(err)
	}
	*c = read
	return nil
}

func readDuration(d *jsontext.Decoder, to *time.Duration) error {
	value, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch value.Kind() {
	case 'n':
		*to = 0
		return nil
	case '"':
		*to, err = time.ParseDuration(value.String())
		return err
	}
	return errors.New("not a text")
}

// configFault returns a fault with the member that could not be read and the reason, without the member's value.
func configFault(err error) error {
	fault := FieldError{Field: "config", Rule: "must be a JSON object"}
	if wrong, ok := errors.AsType[*jsontext.SyntacticError](err); ok && errors.Is(wrong, jsontext.ErrDuplicateName) {
		fault = FieldError{Field: fieldAt(wrong.JSONPointer), Rule: "must be there once"}
	} else if wrong, ok := errors.AsType[*json.SemanticError](err); ok {
		fault.Field = fieldAt(wrong.JSONPointer)
		switch {
		case errors.Is(err, errRedactedSecret):
			return fmt.Errorf("%s: %w", fault.Field, errRedactedSecret)
		case errors.Is(err, json.ErrUnknownName):
			fault.Rule = "is not a setting"
		case wrong.GoType != nil:
			fault.Rule = ruleOf(wrong.GoType)
		}
	}
	return &ValidationError{Faults: []FieldError{fault}}
}

// fieldAt turns "/retry/min_wait" into "retry.min_wait".
func fieldAt(pointer jsontext.Pointer) string {
	var names []string
	for name := range pointer.Tokens() {
		names = append(names, name)
	}
	if len(names) == 0 {
		return "config"
	}
	return strings.Join(names, ".")
}

// ruleOf returns the rule for the text form of a setting.
func ruleOf(of reflect.Type) string {
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	switch {
	case of == reflect.TypeFor[time.Duration]():
		return `must be a duration such as "30s"`
	case of == reflect.TypeFor[Secret](), of.Kind() == reflect.String:
		return "must be a text"
	case of.Kind() == reflect.Float64:
		return "must be a number"
	case of.Kind() == reflect.Bool:
		return "must be true or false"
	case of.Kind() == reflect.Struct:
		return "must be a JSON object"
	}
	return "must be a whole number"
}

// ConfigFromEnv reads a Config from the environment. The name of a variable is PREPAID_ and the path of the JSON field in capitals, such as
// PREPAID_BASE_URL or PREPAID_RETRY_MIN_WAIT. docs/wrapping.md lists them all. If PREPAID_CLIENT_SECRET is unset,
// PREPAID_CLIENT_SECRET_FILE names a file with the secret. PREPAID_ENVIRONMENT (for TestEnvironment) is "test" or "production", the
// default. Switches are "true" or "false", durations are written as "30s", codes and media types are separated by commas. An empty variable
// counts as unset. Any other variable that begins with PREPAID_ is refused as mistyped, except those of the tools of this module
// (PREPAID_EMULATOR_, PREPAID_CONFORMANCE_, PREPAID_HOSTILE_, PREPAID_VCR, PREPAID_TEST_) and of Kubernetes services. If credentials are not
// set, ClientID and ClientSecret stay empty, for a Config with Token. Errors: a *[ValidationError] that lists all faults by variable.
func ConfigFromEnv() (Config, error) {
	config, unread := Config{}, environment{known: []string{"PREPAID_ENVIRONMENT", "PREPAID_CLIENT_SECRET", "PREPAID_CLIENT_SECRET_FILE"}}
	readEnv(&unread, "base_url", &config.BaseURL, asText)
	readEnv(&unread, "vendor", &config.Vendor, asText)
	switch os.Getenv("PREPAID_ENVIRONMENT") {
	case "test":
		config.TestEnvironment = true
	case "", "production":
	default:
		unread.fault("PREPAID_ENVIRONMENT", `must be "test" or "production"`)
	}
	readEnv(&unread, "insecure_http", &config.InsecureHTTP, strconv.ParseBool)
	readEnv(&unread, "client_id", &config.ClientID, asText)
	readEnv(&unread, "user_agent", &config.UserAgent, asText)
	readEnv(&unread, "attempt_timeout", &config.AttemptTimeout, time.ParseDuration)
	readEnv(&unread, "body_idle_timeout", &config.BodyIdleTimeout, time.ParseDuration)
	readEnv(&unread, "max_response_bytes", &config.MaxResponseBytes, func(text string) (int64, error) {
		return strconv.ParseInt(text, 10, 64)
	})
	readEnv(&unread, "retry.max_attempts", &config.Retry.MaxAttempts, strconv.Atoi)
	readEnv(&unread, "retry.min_wait", &config.Retry.MinWait, time.ParseDuration)
	readEnv(&unread, "retry.max_wait", &config.Retry.MaxWait, time.ParseDuration)
	readEnv(&unread, "retry.max_retry_after", &config.Retry.MaxRetryAfter, time.ParseDuration)
	readEnv(&unread, "retry.max_throttle_wait", &config.Retry.MaxThrottleWait, time.ParseDuration)
	readEnv(&unread, "retry.in_flight_wait", &config.Retry.InFlightWait, time.ParseDuration)
	readEnv(&unread, "retry.token_hold", &config.Retry.TokenHold, time.ParseDuration)
	readEnv(&unread, "refusal_codes", &config.RefusalCodes, asList[ErrorCode])
	readEnv(&unread, "media_types", &config.MediaTypes, asList[string])
	readEnv(&unread, "never_repeat_loads", &config.NeverRepeatLoads, strconv.ParseBool)
	readEnv(&unread, "rate_share", &config.RateShare, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	readEnv(&unread, "skip_value_checks", &config.SkipValueChecks, strconv.ParseBool)
	readEnv(&unread, "show_descriptions", &config.ShowDescriptions, strconv.ParseBool)
	unread.refuseOthers()
	secret, from, rule := secretFromEnv()
	if err := config.ClientSecret.UnmarshalText([]byte(secret)); err != nil {
		rule = "must not be " + redact.Mark
	}

	v, missing := validator{}, validator{}
	for _, fault := range faultsOf(config.Validate()) {
		name, secret, file := envName(fault.Field), fault.Field == "client_secret", ""
		if secret && from == "" {
			file = "or PREPAID_CLIENT_SECRET_FILE "
		}
		switch {
		case strings.HasPrefix(fault.Field, "client_") && from == "" && config.ClientID == "":
			missing.fault(name, file+"is required without Config.Token")
		case secret && rule != "":
			v.fault(from, rule)
		case secret && from != "":
			v.fault(from, fault.Rule)
		default:
			v.fault(name, file+fault.Rule)
		}
	}
	if v.faults = append(v.faults, unread.faults...); len(v.faults) > 0 {
		return Config{}, &ValidationError{Faults: append(v.faults, missing.faults...)}
	}
	return config, nil
}

// environment collects the faults of environment variables, and the names that were read.
type environment struct {
	validator

	known []string
}

// serviceVariable is a variable that Kubernetes sets for each service, with its value.
const serviceVariable = `^PREPAID_(\w+_)?(SERVICE_HOST=|SERVICE_PORT(_\w+)?=|PORT=\w+://|PORT_\d+_(TCP|UDP|SCTP)(_(PROTO|PORT|ADDR))?=)`

// refuseOthers adds a fault for each set variable that is not known, unless it belongs to a tool or to Kubernetes.
func (v *environment) refuseOthers() {
	for _, variable := range os.Environ() {
		name, value, _ := strings.Cut(variable, "=")
		if runtime.GOOS == "windows" {
			name = strings.ToUpper(name) // as Getenv finds it
		}
		rest, ours := strings.CutPrefix(name, "PREPAID_")
		family, _, _ := strings.Cut(rest, "_")
		switch {
		case !ours, value == "", slices.Contains(v.known, name):
		case name == "PREPAID_TEST_ENVIRONMENT":
			v.fault(name, `is not a setting: set PREPAID_ENVIRONMENT to "test"`)
		case slices.Contains([]string{"CONFORMANCE", "EMULATOR", "HOSTILE", "TEST", "VCR"}, family):
		case regexp.MustCompile(serviceVariable).MatchString(variable):
		default:
			v.fault(name, "is not a setting")
		}
	}
}

// readEnv reads the environment variable of a field into to, if the variable is set.
func readEnv[T any](v *environment, field string, to *T, parse func(string) (T, error)) {
	name := envName(field)
	v.known = append(v.known, name)
	text := os.Getenv(name)
	if text == "" {
		return
	}
	value, err := parse(text)
	if err != nil {
		v.fault(name, ruleOf(reflect.TypeFor[T]()))
		return
	}
	*to = value
}

func asText(text string) (string, error) { return text, nil }

func asList[T ~string](text string) (list []T, err error) {
	for item := range strings.SplitSeq(text, ",") {
		list = append(list, T(strings.TrimSpace(item)))
	}
	return list, nil
}

// secretFromEnv returns the client secret, the variable that it comes from, and the rule that this variable breaks, if any.
func secretFromEnv() (secret, from, rule string) {
	if secret = os.Getenv("PREPAID_CLIENT_SECRET"); secret != "" {
		return secret, "PREPAID_CLIENT_SECRET", ""
	}
	from = "PREPAID_CLIENT_SECRET_FILE"
	file := os.Getenv(from)
	if file == "" {
		return "", "", ""
	}
	content, err := os.ReadFile(file)
	secret = strings.TrimRight(string(content), "\r\n")
	switch {
	case err != nil:
		rule = "must name a readable file"
	case secret == "":
		rule = "must name a file that is not empty"
	case strings.Trim(secret, " \t\uFEFF") != secret: // PREPAID_CLIENT_SECRET accepts a secret that really ends in a blank
		secret, rule = "", "must name a file without a byte order mark, or a blank before or after the secret"
	}
	return secret, from, rule
}

// envName turns "retry.min_wait" into "PREPAID_RETRY_MIN_WAIT".
func envName(field string) string {
	return "PREPAID_" + strings.ToUpper(strings.ReplaceAll(field, ".", "_"))
}
