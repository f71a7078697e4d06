package prepaid

import (
	"errors"
	"fmt"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/internal/sentinel"
	"github.com/cardprograms/prepaid/internal/token"
	"github.com/cardprograms/prepaid/ratelimit"
)

// CallError is the error of every call: the operation, its outcome and the cause. Tests can construct one from its exported fields.
type CallError struct {
	Operation     string    // the Go name of the call, such as "Accounts.Transfer"
	Outcome       Outcome   // the known effect
	AccountID     AccountID // the account of the call; empty if the call has none
	RequestID     RequestID // the key of a transfer or direct entry out; empty for other calls
	CorrelationID string    // the ID that the service returned or, for funding, the ID that was sent
	Attempts      int       // the number of requests that may have been sent
	FirstSent     time.Time // when the first request may have been sent; zero if none was
	// LastSent is the start of the last attempt that may have been sent. If that attempt outlasted AttemptTimeout, LastSent is its end minus
	// AttemptTimeout. The attempt may have been in progress until the call returned. If nothing was sent, LastSent is zero or, for a transfer
	// or direct entry out with unknown outcome, that of the earlier call. Store it with a payment of unknown outcome.
	LastSent time.Time
	// NotBefore is the earliest time to repeat a transfer or direct entry out with unknown outcome, with its request ID: see
	// [AccountsService.NotBefore]. A client waits longer if the service has not responded since: [AccountsService.AwaitRepeat]. Zero for any
	// other call or outcome, and with [ErrRequestIDExpired].
	NotBefore time.Time
	// Err is the cause: a typed error or sentinel of this package or of package ratelimit, or the context's error. If an attempt that may have
	// taken effect was followed by another failure, Err wraps both causes.
	Err error

	rule     *repeatRule      // of the client that returned the error; nil otherwise
	admitted time.Time        // NotBefore of the movement that the last request repeats
	unknown  liveness.Request // of NotBefore
}

// Error returns one line with request and correlation ID, for a search. It has no names, amounts or addresses, except in descriptions
// ([Config].ShowDescriptions).
func (e *CallError) Error() string {
	inner, nested := e.Err.(*CallError) //nolint:errorlint // only the direct cause
	if nested && inner != nil && inner.Operation == e.Operation && inner.RequestID == e.RequestID && inner.Outcome == e.Outcome {
		return inner.Error() // a store's error about the same call
	}
	var b strings.Builder
	b.WriteString("prepaid: ")
	if e.Operation != "" {
		b.WriteString(e.Operation)
		b.WriteString(": ")
	}
	if e.Outcome == OutcomeUnknown {
		b.WriteString("outcome ")
	}
	b.WriteString(e.Outcome.String())
	if e.Attempts > 1 {
		b.WriteString(" after ")
		b.WriteString(strconv.Itoa(e.Attempts))
		b.WriteString(" attempts")
	}
	for _, id := range e.ids() {
		b.WriteString(", ")
		b.WriteString(id.Key)
		b.WriteByte(' ')
		b.WriteString(quoted(id.Value.String()))
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(strings.TrimPrefix(e.Err.Error(), "prepaid: "))
	}
	return b.String()
}

// quoted quotes an ID that could be read as another part of a text.
func quoted(id string) string {
	plain := func(r rune) bool {
		return ascii.IsDigit(r) || ascii.IsLower(r) || ascii.IsUpper(r) || strings.ContainsRune("._-:/", r)
	}
	if strings.ContainsFunc(id, func(r rune) bool { return !plain(r) }) {
		return strconv.Quote(id)
	}
	return id
}

func (e *CallError) Unwrap() error { return e.Err }

func (e *CallError) knownOutcome() (Outcome, bool) {
	if e == nil {
		return OutcomeUnknown, false
	}
	return e.Outcome, true
}

// APIError is an error response of the service (reference section 7). It prints only status, code and, with
// ShowDescriptions, the description: the rest may repeat request data.
type APIError struct {
	StatusCode  int           // the HTTP status
	Code        ErrorCode     // the machine-readable code; empty if the body had none
	Description string        // the service's text; Policy and transfer responses list the invalid fields in it
	RetryAfter  time.Duration // the wait that a 429 or 503 requested; zero if unspecified
	Header      http.Header   // the response's header
	Body        []byte        // the response's body, at most its first 64 KiB

	shown        string // the part of Description that is printed
	inputStatus  bool   // a 404 may mean bad input instead of a missing account
	reportFailed bool   // the error is the 500 of a report poll
}

// Error returns status, code and, with ShowDescriptions, the description.
func (e *APIError) Error() string {
	text := "prepaid: status " + strconv.Itoa(e.StatusCode)
	if e.StatusCode == http.StatusProxyAuthRequired {
		text += " of a proxy, which refused its credentials"
	}
	if e.Code != "" {
		text += " (" + printableCode(e.Code) + ")"
	}
	if e.shown != "" {
		text += ": " + e.shown
	}
	return text
}

func (e APIError) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.Error())) }

func (e APIError) MarshalText() ([]byte, error) { return []byte(e.Error()), nil }

// Is matches the code and the sentinel of the status.
func (e *APIError) Is(target error) bool {
	if code, ok := target.(ErrorCode); ok {
		return code != "" && e.Code == code
	}
	switch target {
	case ErrBadRequest:
		return e.StatusCode == http.StatusBadRequest
	case ErrUnauthorized:
		return e.StatusCode == http.StatusUnauthorized
	case ErrForbidden:
		return e.StatusCode == http.StatusForbidden
	case ErrNotFound:
		return e.StatusCode == http.StatusNotFound && !e.inputStatus
	case ErrConflict:
		return e.StatusCode == http.StatusConflict
	case ErrRateLimited:
		return e.StatusCode == http.StatusTooManyRequests
	case ErrServer:
		return e.StatusCode >= 500
	case ErrReportFailed:
		return e.reportFailed
	}
	return false
}

// printableCode returns code if it has the form of the listed codes. Any other text might repeat request data.
func printableCode(code ErrorCode) string {
	const longest = 64
	if len(code) > longest || strings.ContainsFunc(string(code), func(r rune) bool { return !ascii.IsLower(r) && r != '_' }) {
		return "unlisted code"
	}
	return string(code)
}

// ErrorCode is the service's error code. It implements error, for errors.Is(err, prepaid.CodeInvalidURI). Unlisted codes are kept.
type ErrorCode string

func (c ErrorCode) Error() string { return string(c) }

// Codes of sections 4.8 and 7, each with the operations that return it.
const (
	CodeInvalidRequest ErrorCode = "invalid_request" // token, webhooks: the request is malformed
	// CodeUnsupportedGrantType: token: the grant is not client credentials.
	CodeUnsupportedGrantType ErrorCode = "unsupported_grant_type"
	CodeInvalidClient        ErrorCode = "invalid_client"     // token: credentials missing (400) or wrong (401)
	CodeServerError          ErrorCode = "server_error"       // any 500
	CodeUnauthorized         ErrorCode = "unauthorized"       // webhooks: bad token, or a company in the scope that the caller cannot access
	CodeBadApplicationID     ErrorCode = "bad_application_id" // key exchange: unknown application
	CodeBadKeyID             ErrorCode = "bad_key_id"         // key exchange: unknown key
	CodeBadEphemeralKey      ErrorCode = "bad_ephemeral_key"  // key exchange: not 256 bits in Base64, or used before
	CodeBadAccount           ErrorCode = "bad_account"        // key exchange: the account cannot take part
	CodeInvalidURI           ErrorCode = "invalid_uri"        // webhooks: not a valid HTTPS address
	// CodeInvalidScope: webhooks: bad list of companies; in an update also a company that the caller cannot access.
	CodeInvalidScope           ErrorCode = "invalid_scope"
	CodeInvalidFilterSpec      ErrorCode = "invalid_filter_spec"      // webhooks: bad filter
	CodeInvalidEnabled         ErrorCode = "invalid_enabled"          // webhooks: enabled is not true or false
	CodeInvalidReliabilityMode ErrorCode = "invalid_reliability_mode" // webhooks: not one of the two modes
	CodeInvalidHMACKeyID       ErrorCode = "invalid_hmac_key_id"      // webhooks: bad key ID
	CodeInvalidHMACKeySecret   ErrorCode = "invalid_hmac_key_secret"  // webhooks: bad key
	CodeNoResponse             ErrorCode = "no_response"              // webhooks: the ping to an enabled hook received no response
	CodeInvalidHookID          ErrorCode = "invalid_hook_id"          // webhooks: no such hook
	CodeInvalidMessageID       ErrorCode = "invalid_message_id"       // webhooks: no such undeliverable message
)

// Sentinels, for errors.Is.
var (
	// ErrSyntax: text or JSON is no [Amount], [Date] (year 1 to 9999), [MCC] or [TransactionID], or a secret is a dumped "[REDACTED]".
	ErrSyntax = sentinel.New("prepaid: syntax")
	// ErrAmountRange: an amount needs more than 19 digits or 19 decimals and would have to be rounded.
	ErrAmountRange  error = &valueError{"prepaid: amount: needs more than 19 digits"}
	ErrBadRequest         = sentinel.New("prepaid: bad request")  // status 400
	ErrUnauthorized       = sentinel.New("prepaid: unauthorized") // status 401, or a token request was refused
	// ErrForbidden: status 403: no permission on the company or, perhaps, an address that is not whitelisted.
	ErrForbidden = sentinel.New("prepaid: forbidden")
	// ErrNotFound: status 404, except for account creation and wallet provisioning, where it may mean bad input.
	ErrNotFound    = sentinel.New("prepaid: not found")
	ErrConflict    = sentinel.New("prepaid: conflict")     // status 409: the last run of a report template is unfinished
	ErrRateLimited = ratelimit.ErrRateLimited              // status 429, or the local limiter refused
	ErrServer      = sentinel.New("prepaid: server error") // any status 5xx
	// ErrTransferFailed: a transfer returned 200 with an empty transaction_id ("" or null): no money moved. The service caches no failure: the
	// same request ID may be sent again. [AccountsService.DiagnoseTransfer] looks for a reason.
	ErrTransferFailed = sentinel.New("prepaid: transfer failed")
	ErrReportNotReady = sentinel.New("prepaid: report not ready") // the report is still processing (204)
	ErrReportFailed   = sentinel.New("prepaid: report failed")    // a report poll returned 500: the report must be requested again
	// ErrRequestIDExpired: the day in the request ID ([RequestID.Date]) or LastSent of the params is out of range: the service may forget the
	// ID. The call was not sent ([OutcomeUnknown]: an earlier call may have moved the money). Also if [Config].NeverRepeatLoads forbids the
	// call.
	ErrRequestIDExpired = sentinel.New("prepaid: request ID outside the replay window")
	// ErrRequestIDReused: this client has used the request ID for another payment. The outcome of that payment is unknown, or that payment is
	// one of the last 65,536 that moved money. This call was not sent ([OutcomeRejected]; [OutcomeUnknown] if the params have LastSent) and
	// never will be. Do not pay with a new request ID: a person must decide which of the two payments is right.
	ErrRequestIDReused = sentinel.New("prepaid: request ID of another payment")
	ErrClosed          = token.ErrClosed                                    // the client was closed
	ErrTooMany         = sentinel.New("prepaid: more items than the limit") // more items than the limit given to [Collect]
	ErrAmbiguous       = sentinel.New("prepaid: more than one match")       // more than one account, movement, hook or policy rule matches
	// ErrNotSeen: nothing matched yet. This does not prove that nothing was created, or that nothing moved. Issue returns ErrNotSeen if the
	// account was created and not found, or belongs to another client_id: search before you call Issue again. With Again, Issue also returns
	// it, with the context's error, if the context ends before VisibleWithin.
	ErrNotSeen = sentinel.New("prepaid: nothing seen yet")
	// ErrPolicyChanged: after an Ensure method of [PolicyService] the rules are not the earlier rules plus the method's changes. Another
	// program changed the rules meanwhile, or the service has not yet made a change that it acknowledged.
	ErrPolicyChanged = sentinel.New("prepaid: the policy changed meanwhile")
)

// FieldError is a field and the rule that it breaks, never the value.
type FieldError struct {
	Field string // the path, such as "registration.primary_address.country"
	Rule  string // the rule for the value, such as "must be an ISO 3166 alpha-2 code"
}

func (e FieldError) Error() string { return e.Field + " " + e.Rule }

// ValidationError lists all faults of a request or a [Config]. Nothing was sent, except perhaps by an Ensure method: see the outcome.
type ValidationError struct {
	Faults []FieldError // the faults, in the order of the fields
}

func (*ValidationError) knownOutcome() (Outcome, bool) { return OutcomeRejected, true }

func (e *ValidationError) Error() string {
	var b strings.Builder
	b.WriteString("prepaid: invalid input: ")
	for i, fault := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(fault.Error())
	}
	return b.String()
}

// TransportError means that no complete response arrived.
type TransportError struct {
	Sent bool   // false only if it is certain that nothing reached the service
	Step string // where the exchange failed: "connect", "headers" (no response headers arrived) or "body"
	Err  error  // the cause, without the request's URL
}

func (e *TransportError) Error() string {
	text := "prepaid: no complete response"
	if !e.Sent {
		text = "prepaid: not sent"
	}
	if e.Step != "" {
		text += " (" + e.Step + ")"
	}
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *TransportError) Unwrap() error { return e.Err }

// DecodeError means that a response does not have the declared form, or that an error response has a success status (then Err is its
// [ErrorCode]).
type DecodeError struct {
	StatusCode int    // the HTTP status of the response
	MediaType  string // the response's Content-Type without parameters; "?" for a text that is none
	Offset     int64  // the byte of the body at which decoding stopped; zero if unknown
	Err        error  // the cause; it quotes no content
}

func (e *DecodeError) Error() string {
	text := fmt.Sprintf("prepaid: undecodable response (status %d, %q, byte %d)", e.StatusCode, e.MediaType, e.Offset)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *DecodeError) Unwrap() error { return e.Err }

// correlatedError is an error about a response with the service's correlation ID.
type correlatedError struct {
	error
	correlationID string
}

func (e *correlatedError) Unwrap() error { return e.error }

// TokenError means that the call was not sent: no token could be obtained.
type TokenError struct {
	Err error // the cause
}

func (e *TokenError) Error() string {
	if e.Err == nil {
		return "prepaid: no access token"
	}
	return "prepaid: no access token: " + strings.TrimPrefix(e.Err.Error(), "prepaid: ")
}

func (e *TokenError) Unwrap() error { return e.Err }

// Is matches [ErrUnauthorized] if the service refused the credentials or token.
func (e *TokenError) Is(target error) bool {
	return target == ErrUnauthorized && (errors.Is(e.Err, CodeInvalidClient) || errors.Is(e.Err, token.ErrRefused))
}

// endedError is the error of a call that its context ended. It also matches the context's cause, and does not show it.
type endedError struct {
	error
	cause error
}

func (e *endedError) Unwrap() []error { return []error{e.error, e.cause} }

// hasOurs reports whether an error of this module is in err's tree. As the cause of a context it is the error of another call, and must
// not look like that of this one.
func hasOurs(err error) bool {
	if err == nil {
		return false
	}
	of := reflect.TypeOf(err)
	if of.Kind() == reflect.Pointer {
		of = of.Elem()
	}
	const module = "github.com/cardprograms/prepaid"
	if of.PkgPath() == module || strings.HasPrefix(of.PkgPath(), module+"/") || err == ErrRateLimited { //nolint:errorlint // each error of the tree is compared
		return true
	}
	switch e := err.(type) { //nolint:errorlint // the tree is walked here
	case interface{ Unwrap() error }:
		return hasOurs(e.Unwrap())
	case interface{ Unwrap() []error }:
		return slices.ContainsFunc(e.Unwrap(), hasOurs)
	}
	return false
}

// bothCauses is a failure after an earlier one. unknown means that the earlier attempt may have been applied.
type bothCauses struct {
	last, earlier error
	unknown       bool
}

func (e *bothCauses) Error() string {
	link := "; before that: "
	if e.unknown {
		link = "; an earlier attempt may have been applied: "
	}
	return strings.TrimPrefix(e.last.Error(), "prepaid: ") + link + strings.TrimPrefix(e.earlier.Error(), "prepaid: ")
}

func (e *bothCauses) Unwrap() []error { return []error{e.last, e.earlier} }
