package prepaid

import (
	"encoding/hex"
	"errors"
	"net"
	"net/mail"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/exchange"
)

const (
	ruleRequired = "is required"
	rulePositive = "must be above zero"
	ruleUTF8     = "must be valid UTF-8"
	ruleWhole    = "must not contain U+FFFD, which replaces text that was not Unicode"
	ruleDigits4  = "must be four digits (ISO 18245)"
	ruleUUID     = "must be a UUID"
	ruleClimbs   = `must not be or contain a segment "." or ".."`
	rulePath     = `must not be "." or ".." or contain a slash, a percent sign or a control character`
)

// validator collects the faults of a request. A rule describes the fault of a field, never its value. Each method of a service
// lists the rules of all its fields, in their order, even if another method has the same rules: each rule is a row of the reference.
type validator struct {
	faults []FieldError
	lax    bool // Config.SkipValueChecks
	whole  bool // text was read before: U+FFFD shows that a part of it was lost
	// horizon is how much later than today a date in the future must be.
	horizon time.Duration
	// isEmail accepts the forms that isPlainEmail does not. It is a field so that a program which sends no registration does
	// not link the parser.
	isEmail func(string) bool
}

// fault adds a fault. The request is not sent.
func (v *validator) fault(field, rule string) {
	v.faults = append(v.faults, FieldError{Field: field, Rule: rule})
}

// value adds a fault unless SkipValueChecks is set: as far as this version knows, the service would refuse the value.
func (v *validator) value(field, rule string) {
	if !v.lax {
		v.fault(field, rule)
	}
}

// required checks a text without which the request would mean something else, such as an ID.
func (v *validator) required(field, value string) bool {
	if value == "" {
		v.fault(field, ruleRequired)
		return false
	}
	return v.text(field, value, 0)
}

// text checks an optional text. longest is its limit in code points; 0 means unlimited.
func (v *validator) text(field, value string, longest int) bool {
	if !utf8.ValidString(value) {
		v.fault(field, ruleUTF8)
		return false
	}
	if v.whole && strings.ContainsRune(value, utf8.RuneError) {
		v.fault(field, ruleWhole)
		return false
	}
	if longest > 0 && len(value) > longest && utf8.RuneCountInString(value) > longest {
		v.value(field, "must be at most "+strconv.Itoa(longest)+" characters")
		return v.lax
	}
	return true
}

// requiredText checks a text that the service requires.
func (v *validator) requiredText(field, value string, longest int) {
	if value == "" {
		v.value(field, ruleRequired)
		return
	}
	v.text(field, value, longest)
}

// noControl refuses control characters, such as a line break that an editor or echo has added.
func (v *validator) noControl(field, value string) {
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) {
		v.fault(field, "must not contain a line break or another control character")
	}
}

// pathID checks a value that becomes one segment of the path of an operation with an effect. url.PathEscape keeps "..". An
// empty segment, or a slash or escape that a gateway decodes, may lead to another operation.
func (v *validator) pathID(field, value string) {
	if !v.required(field, value) {
		return
	}
	leaves := func(r rune) bool { return strings.ContainsRune(`/\%`, r) || r < ' ' || r == 0x7f }
	switch {
	case value == ".", value == "..":
		v.fault(field, rulePath)
	case ascii.IsName(value): // the usual case, without a search
	case strings.ContainsFunc(value, leaves):
		v.fault(field, rulePath)
	}
}

// readID checks a path value of a read. It refuses only segments "." and "..": a gateway may decode the escaped value.
func (v *validator) readID(field, value string) {
	if !v.required(field, value) {
		return
	}
	for segment := range strings.FieldsFuncSeq(value, func(r rune) bool { return r == '/' || r == '\\' }) {
		if segment == "." || segment == ".." {
			v.fault(field, ruleClimbs)
			return
		}
	}
}

func (v *validator) companyID(field string, id CompanyID) {
	if id == 0 {
		v.fault(field, ruleRequired)
	}
}

// limit checks a number or a duration of which zero means the default.
func (v *validator) limit(field string, value int64) {
	if value < 0 {
		v.fault(field, "must not be negative")
	}
}

func (v *validator) positive(field string, amount Amount) {
	v.amount(field, amount, amount.Sign() > 0, rulePositive)
}

func (v *validator) notNegative(field string, amount Amount) {
	v.amount(field, amount, amount.Sign() >= 0, "must not be below zero")
}

// amount refuses an amount that breaks a rule, or that this package did not make.
func (v *validator) amount(field string, amount Amount, ok bool, rule string) {
	switch {
	case !amount.valid():
		v.fault(field, "must be made by ParseAmount or Cents")
	case !ok:
		v.fault(field, rule)
	}
}

// oneOf checks that a value, if set, is one that the reference lists.
func (v *validator) oneOf(field, value string, listed []string) {
	if value == "" || slices.Contains(listed, value) || v.lax && v.text(field, value, 0) {
		return
	}
	v.value(field, "must be one of "+strings.Join(listed, ", "))
}

func (v *validator) requiredOneOf(field, value string, listed []string) {
	if value == "" {
		v.fault(field, ruleRequired)
	}
	v.oneOf(field, value, listed)
}

// match checks the characters and the length of a value, if set.
func (v *validator) match(field, value, rule string, shortest, longest int, allowed func(r rune) bool) {
	if value == "" || v.lax && v.text(field, value, 0) {
		return
	}
	length := 0
	for _, r := range value {
		if length++; !allowed(r) {
			length = longest + 1
			break
		}
	}
	if length < shortest || length > longest {
		v.value(field, rule)
	}
}

func (v *validator) countryAlpha2(field, value string) {
	v.match(field, value, "must be an ISO 3166 alpha-2 code, two capital letters", 2, 2, ascii.IsUpper)
}

func (v *validator) countryAlpha3(field, value string) {
	v.match(field, value, "must be an ISO 3166 alpha-3 code, three capital letters", 3, 3, ascii.IsUpper)
}

func (v *validator) postcode(field, value string) {
	v.match(field, value, "must be at most 30 letters and digits", 1, 30, func(r rune) bool {
		return ascii.IsDigit(r) || ascii.IsUpper(r) || ascii.IsLower(r)
	})
}

func (v *validator) email(field, value string) {
	if value == "" || isPlainEmail(value) || v.lax && v.text(field, value, 0) {
		return
	}
	if v.isEmail == nil || !v.isEmail(value) {
		v.value(field, "must be an e-mail address")
	}
}

func isEmail(value string) bool {
	address, err := mail.ParseAddress(value) // also accepts "Name <address>", and unquotes the local part
	if err != nil || address.Address == value {
		return err == nil
	}
	local, domain := value[:strings.LastIndexByte(value, '@')], value[strings.LastIndexByte(value, '@'):]
	return address.Name == "" && strings.HasPrefix(local, `"`) && strings.HasSuffix(local, `"`) && strings.HasSuffix(address.Address, domain)
}

// isPlainEmail accepts the usual form without a parser.
func isPlainEmail(value string) bool {
	last, at := byte('.'), false
	for _, c := range []byte(value) {
		switch {
		case ascii.IsDigit(c), ascii.IsLower(rune(c)), ascii.IsUpper(rune(c)), c == '_', c == '-', c == '+':
		case last != '.' && last != '@' && (c == '.' || c == '@' && !at):
			at = at || c == '@'
		default:
			return false
		}
		last = c
	}
	return at && last != '.' && last != '@'
}

func (v *validator) nameOnCard(field, value string) {
	v.match(field, value, "must be 2 to 19 characters of 0-9, A-Z, hyphen, slash and full stop (no space)", 2, 19, func(r rune) bool {
		return ascii.IsDigit(r) || ascii.IsUpper(r) || r == '-' || r == '/' || r == '.'
	})
}

func (v *validator) accountKey(field, value string) {
	v.match(field, value, "must be at most 255 printable ASCII characters", 1, 255, func(r rune) bool { return r >= 0x20 && r <= 0x7e })
}

func (v *validator) currency(field, value string) {
	if v.required(field, value) {
		v.match(field, value, "must be three digits (ISO 4217 numeric)", 3, 3, ascii.IsDigit[rune])
	}
}

func (v *validator) mcc(field string, code MCC) {
	if code == "" {
		v.fault(field, ruleRequired)
	} else if !code.valid() && !(v.lax && v.text(field, string(code), 0)) {
		v.value(field, ruleDigits4)
	}
}

func (v *validator) uuid(field, value string) {
	if !v.required(field, value) {
		return
	}
	groups := strings.Split(value, "-")
	ok := len(value) == 36 && len(groups) == 5 && len(groups[0]) == 8 && len(groups[1]) == 4 && len(groups[2]) == 4 && len(groups[3]) == 4
	if _, err := hex.DecodeString(strings.ReplaceAll(value, "-", "")); err != nil || !ok {
		v.value(field, ruleUUID)
	}
}

func (v *validator) httpsURI(field, value string) {
	if value == "" {
		return
	}
	if u, err := url.Parse(value); err != nil || u.Scheme != "https" || u.Hostname() == "" {
		v.value(field, "must be an https address")
	}
}

func (v *validator) requestID(field string, id RequestID) {
	if v.required(field, string(id)) && utf8.RuneCountInString(string(id)) > 100 {
		v.fault(field, "must be at most 100 characters")
	}
}

func (v *validator) futureDate(field string, date Date) {
	if v.date(field, date) && !date.Time(time.UTC).After(time.Now().Add(v.horizon)) {
		v.value(field, "must be later than today (UTC)")
	}
}

func (v *validator) date(field string, date Date) bool {
	switch {
	case date.IsZero():
		v.value(field, ruleRequired)
		return false
	case !date.valid(): // it cannot be encoded
		v.fault(field, "must be a day of the calendar")
		return false
	}
	return true
}

// validated returns the faults that check finds as a ValidationError, or nil.
func validated(check func(*validator)) error {
	var v validator
	if check(&v); len(v.faults) > 0 {
		return &ValidationError{Faults: v.faults}
	}
	return nil
}

// faultsOf returns the faults of a ValidationError in err.
func faultsOf(err error) []FieldError {
	if invalid, ok := errors.AsType[*ValidationError](err); ok {
		return invalid.Faults
	}
	return nil
}

func (v *validator) acquirer(field string, id int64) {
	if id <= 0 {
		v.fault(field, "is required and must be above zero")
	}
}

// numericID checks an ID, if set, that the operation sends as a JSON number.
func (v *validator) numericID(field string, id TransactionID) {
	if id != "" && !id.numeric() {
		v.fault(field, "must be a whole number")
	}
}

// index returns the path of a field of a list's element: "add[2].terminal_id".
func index(list string, i int, field string) string {
	path := list + "[" + strconv.Itoa(i) + "]"
	if field != "" {
		path += "." + field
	}
	return path
}

func (c Config) check(v *validator) {
	c.checkBaseURL(v)
	if c.Vendor == "" {
		v.fault("vendor", ruleRequired)
	} else if !ascii.IsName(c.Vendor) {
		v.fault("vendor", "must be letters, digits, '.', '-' or '_'")
	}
	if c.InsecureHTTP && !c.TestEnvironment {
		v.fault("insecure_http", "requires the test environment")
	}
	if c.Token == nil {
		v.required("client_id", c.ClientID)
		if strings.ContainsRune(c.ClientID, ':') {
			v.fault("client_id", "must not contain a colon")
		}
		v.noControl("client_id", c.ClientID)
		v.required("client_secret", c.ClientSecret.Reveal())
		v.noControl("client_secret", c.ClientSecret.Reveal())
	}
	if strings.ContainsFunc(c.UserAgent, func(r rune) bool { return r < ' ' || r > '~' }) {
		v.fault("user_agent", "must be printable ASCII")
	}
	v.limit("attempt_timeout", int64(c.AttemptTimeout))
	v.limit("body_idle_timeout", int64(c.BodyIdleTimeout))
	v.limit("max_response_bytes", c.MaxResponseBytes)
	if c.MaxResponseBytes > maxMaxResponseBytes {
		v.fault("max_response_bytes", "must be at most 1 GiB")
	}
	v.limit("retry.max_attempts", int64(c.Retry.MaxAttempts))
	v.limit("retry.min_wait", int64(c.Retry.MinWait))
	v.limit("retry.max_wait", int64(c.Retry.MaxWait))
	v.limit("retry.max_retry_after", int64(c.Retry.MaxRetryAfter))
	v.limit("retry.max_throttle_wait", int64(c.Retry.MaxThrottleWait))
	v.limit("retry.in_flight_wait", int64(c.Retry.InFlightWait))
	v.limit("retry.token_hold", int64(c.Retry.TokenHold))
	if slices.ContainsFunc(c.RefusalCodes, func(code ErrorCode) bool { return !isCodeWord(string(code)) }) {
		v.fault("refusal_codes", "must consist of lower-case letters, digits and '_'")
	}
	if slices.ContainsFunc(c.MediaTypes, func(t string) bool { return t != "" && !exchange.IsMediaType(t) }) {
		v.fault("media_types", "must be like text/plain, in lower case and without parameters")
	}
	if c.RateShare < 0 || c.RateShare > 1 || c.RateShare != c.RateShare {
		v.fault("rate_share", "must be above 0 and at most 1")
	}
	if c.ShowDescriptions && !c.TestEnvironment {
		v.fault("show_descriptions", "requires the test environment")
	}
}

// isCodeWord reports whether code has the form of the codes in the reference.
func isCodeWord(code string) bool {
	return code != "" && !strings.ContainsFunc(code, func(r rune) bool { return !ascii.IsLower(r) && r != '_' && !ascii.IsDigit(r) })
}

// simulator adds a fault unless config is for the test environment.
func (v *validator) simulator(config Config) {
	if !config.TestEnvironment {
		v.fault("config.test_environment", "must be true: the simulator exists only in the test environment")
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
		v.fault("base_url", "must be an absolute URL")
		return
	}
	if u.Scheme != "https" && (u.Scheme != "http" || !isLoopback(u.Hostname()) && !c.InsecureHTTP) {
		rule := "must be https, or http on loopback"
		if c.TestEnvironment {
			rule += ", or http with insecure_http"
		}
		v.fault("base_url", rule)
	}
	if u.User != nil || u.RawQuery != "" || u.ForceQuery || u.Fragment != "" {
		v.fault("base_url", "must not have a user, query or fragment")
	}
	if !strings.HasSuffix(strings.TrimSuffix(u.Path, "/"), "/3.0") {
		v.fault("base_url", "must end in /3.0/")
	}
}

func isLoopback(host string) bool {
	ip := net.ParseIP(host)
	return host == "localhost" || ip != nil && ip.IsLoopback()
}
