package prepaid

import (
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/redact"
)

// ConfigFromEnv reads a Config from the environment. The name of a variable is PREPAID_ and that of the JSON field in
// capitals, credentials without their group: PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT ("test";
// "production" when unset), PREPAID_INSECURE_HTTP, PREPAID_CLIENT_ID, PREPAID_CLIENT_SECRET or, when that is unset,
// PREPAID_CLIENT_SECRET_FILE, which names a file with the secret; and, to change a default, PREPAID_USER_AGENT,
// PREPAID_RATE_SHARE, PREPAID_ATTEMPT_TIMEOUT, PREPAID_BODY_IDLE_TIMEOUT, PREPAID_MAX_RESPONSE_BYTES,
// PREPAID_RETRY_MAX_ATTEMPTS, PREPAID_RETRY_MIN_WAIT, PREPAID_RETRY_MAX_WAIT, PREPAID_RETRY_MAX_RETRY_AFTER,
// PREPAID_RETRY_MAX_THROTTLE_WAIT, PREPAID_RETRY_IN_FLIGHT_WAIT, PREPAID_RETRY_TOKEN_HOLD, PREPAID_REFUSAL_CODES,
// PREPAID_SKIP_VALUE_CHECKS ("true") and PREPAID_SHOW_DESCRIPTIONS ("true"). Durations are texts such as "30s", and codes
// are separated by commas. An empty variable is an unset one. Other variables are left alone, whatever their names begin with: mind the spelling.
//
// Without any variable of the credentials they stay empty, for a Config that gets a TokenSource; [NewClient] refuses one
// that has neither.
//
// It returns all faults at once as a *[ValidationError] whose fields are the names of the variables: what is missing, what
// cannot be read and what is not allowed. If there are any, missing credentials are among them.
func ConfigFromEnv() (Config, error) {
	config, unread := Config{}, validator{}
	readEnv(&unread, "base_url", &config.BaseURL, asText)
	readEnv(&unread, "vendor", &config.Vendor, asText)
	readEnv(&unread, "environment", &config.Environment, func(text string) (e Environment, err error) {
		err = e.UnmarshalText([]byte(text))
		return e, err
	})
	readEnv(&unread, "insecure_http", &config.InsecureHTTP, strconv.ParseBool)
	readEnv(&unread, "credentials.client_id", &config.Credentials.ClientID, asText)
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
	readEnv(&unread, "refusal_codes", &config.RefusalCodes, func(text string) (codes []ErrorCode, err error) {
		for code := range strings.SplitSeq(text, ",") {
			codes = append(codes, ErrorCode(strings.TrimSpace(code)))
		}
		return codes, nil
	})
	readEnv(&unread, "rate_share", &config.RateShare, func(text string) (float64, error) { return strconv.ParseFloat(text, 64) })
	readEnv(&unread, "skip_value_checks", &config.SkipValueChecks, strconv.ParseBool)
	readEnv(&unread, "show_descriptions", &config.ShowDescriptions, strconv.ParseBool)
	secret, from, rule := secretFromEnv()
	if err := config.Credentials.ClientSecret.UnmarshalText([]byte(secret)); err != nil {
		rule = "must not be " + redact.Mark
	}

	v, missing := validator{}, validator{}
	for _, fault := range faultsOf(config.Validate()) {
		switch secret := fault.Field == "credentials.client_secret"; {
		case strings.HasPrefix(fault.Field, "credentials.") && from == "" && config.Credentials.ClientID == "":
			missing.fault(envName(fault.Field), "is required without a TokenSource")
		case secret && rule != "":
			v.fault(from, rule)
		case secret && from != "":
			v.fault(from, fault.Rule)
		default:
			v.fault(envName(fault.Field), fault.Rule)
		}
	}
	if v.faults = append(v.faults, unread.faults...); len(v.faults) > 0 {
		return Config{}, &ValidationError{Faults: append(v.faults, missing.faults...)}
	}
	return config, nil
}

// readEnv sets to from the variable of a field, if there is one.
func readEnv[T any](v *validator, field string, to *T, parse func(string) (T, error)) {
	name := envName(field)
	text := os.Getenv(name)
	if text == "" {
		return
	}
	value, err := parse(text)
	if err != nil {
		v.fault(name, ruleOfType[T]())
		return
	}
	*to = value
}

func asText(text string) (string, error) { return text, nil }

// secretFromEnv returns the client secret, the variable it comes from, if any, and why that has none.
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
	}
	return secret, from, rule
}

// envName turns "credentials.client_id" into "PREPAID_CLIENT_ID" and "retry.min_wait" into "PREPAID_RETRY_MIN_WAIT".
func envName(field string) string {
	return "PREPAID_" + strings.ToUpper(strings.ReplaceAll(strings.TrimPrefix(field, "credentials."), ".", "_"))
}
