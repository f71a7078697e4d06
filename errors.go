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
	// Operation is the Go name of the call, such as "Accounts.Transfer".
	Operation string
	// Outcome is the known effect.
	Outcome Outcome
	// AccountID is the account of the call; empty if the call has none.
	AccountID AccountID
	// RequestID is the key of a transfer or direct entry out; empty for other calls.
	RequestID RequestID
	// CorrelationID is the ID that the service returned or, for funding, the ID that was sent.
	CorrelationID string
	// Attempts is the number of requests that may have been sent.
	Attempts int
	// FirstSent is when the first request may have been sent; zero if none was.
	FirstSent time.Time
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

	rule     settlingRule     // of the client that returned the error; nil otherwise
	admitted time.Time        // NotBefore of the movement that the last request repeats
	unknown  liveness.Request // of NotBefore
}

// settlingRule implements ProvesNotApplied. As an interface, it keeps this file independent of retry.go.
type settlingRule interface {
	settledBy(refusal *CallError, lastSent time.Time) bool
}

// Error returns one line with the request and the correlation ID, for a search. It has no names, amounts or addresses, except for
// descriptions with [Config].ShowDescriptions.
func (e *CallError) Error() string {
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
		b.WriteString(id.Value.String())
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(strings.TrimPrefix(e.Err.Error(), "prepaid: "))
	}
	return b.String()
}

func (e *CallError) Unwrap() error { return e.Err }

func (e *CallError) knownOutcome() (Outcome, bool) {
	if e == nil {
		return OutcomeUnknown, false
	}
	return e.Outcome, true
}

// APIError is an error response of the service (reference section 7). By default it prints only status and code: the rest may repeat
// request data.
type APIError struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code is the machine-readable code; empty if the body had none.
	Code ErrorCode
	// Description is the service's text. Policy and transfer responses list the invalid fields in it.
	Description string
	// RetryAfter is the wait that a 429 or 503 requested; zero if unspecified.
	RetryAfter time.Duration
	// Header is the response's header.
	Header http.Header
	// Body is the response's body, at most its first 64 KiB.
	Body []byte

	// shown is the part of Description that is printed.
	shown string
	// inputStatus: a 404 may mean bad input instead of a missing account.
	inputStatus bool
	// reportFailed: the error is the 500 of a report poll.
	reportFailed bool
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
	// CodeInvalidRequest: token, webhooks: the request is malformed.
	CodeInvalidRequest ErrorCode = "invalid_request"
	// CodeUnsupportedGrantType: token: the grant is not client credentials.
	CodeUnsupportedGrantType ErrorCode = "unsupported_grant_type"
	// CodeInvalidClient: token: credentials missing (400) or wrong (401).
	CodeInvalidClient ErrorCode = "invalid_client"
	// CodeServerError: any 500.
	CodeServerError ErrorCode = "server_error"
	// CodeUnauthorized: webhooks: bad token, or a company in the scope that the caller cannot access.
	CodeUnauthorized ErrorCode = "unauthorized"
	// CodeBadApplicationID: key exchange: unknown application.
	CodeBadApplicationID ErrorCode = "bad_application_id"
	// CodeBadKeyID: key exchange: unknown key.
	CodeBadKeyID ErrorCode = "bad_key_id"
	// CodeBadEphemeralKey: key exchange: not 256 bits in Base64, or used before.
	CodeBadEphemeralKey ErrorCode = "bad_ephemeral_key"
	// CodeBadAccount: key exchange: the account cannot take part.
	CodeBadAccount ErrorCode = "bad_account"
	// CodeInvalidURI: webhooks: not a valid HTTPS address.
	CodeInvalidURI ErrorCode = "invalid_uri"
	// CodeInvalidScope: webhooks: bad list of companies; in an update also a company that the caller cannot access.
	CodeInvalidScope ErrorCode = "invalid_scope"
	// CodeInvalidFilterSpec: webhooks: bad filter.
	CodeInvalidFilterSpec ErrorCode = "invalid_filter_spec"
	// CodeInvalidEnabled: webhooks: enabled is not true or false.
	CodeInvalidEnabled ErrorCode = "invalid_enabled"
	// CodeInvalidReliabilityMode: webhooks: not one of the two modes.
	CodeInvalidReliabilityMode ErrorCode = "invalid_reliability_mode"
	// CodeInvalidHMACKeyID: webhooks: bad key ID.
	CodeInvalidHMACKeyID ErrorCode = "invalid_hmac_key_id"
	// CodeInvalidHMACKeySecret: webhooks: bad key.
	CodeInvalidHMACKeySecret ErrorCode = "invalid_hmac_key_secret"
	// CodeNoResponse: webhooks: the ping to an enabled hook received no response.
	CodeNoResponse ErrorCode = "no_response"
	// CodeInvalidHookID: webhooks: no such hook.
	CodeInvalidHookID ErrorCode = "invalid_hook_id"
	// CodeInvalidMessageID: webhooks: no such undeliverable message.
	CodeInvalidMessageID ErrorCode = "invalid_message_id"
)

// Sentinels, for errors.Is.
var (
	// ErrSyntax: text or JSON is no [Amount], [Date] (year 1 to 9999), [MCC] or [TransactionID], or a secret is a dumped "[REDACTED]".
	ErrSyntax = sentinel.New("prepaid: syntax")
	// ErrAmountRange: an amount needs more than 19 digits or 19 decimals and would have to be rounded.
	ErrAmountRange error = &valueError{"prepaid: amount: needs more than 19 digits"}
	// ErrBadRequest: status 400.
	ErrBadRequest = sentinel.New("prepaid: bad request")
	// ErrUnauthorized: status 401, or a token request was refused.
	ErrUnauthorized = sentinel.New("prepaid: unauthorized")
	// ErrForbidden: status 403: no permission on the company or, perhaps, an address that is not whitelisted.
	ErrForbidden = sentinel.New("prepaid: forbidden")
	// ErrNotFound: status 404, except for account creation and wallet provisioning, where it may mean bad input.
	ErrNotFound = sentinel.New("prepaid: not found")
	// ErrConflict: status 409: the last run of a report template is unfinished.
	ErrConflict = sentinel.New("prepaid: conflict")
	// ErrRateLimited: status 429, or the local limiter refused.
	ErrRateLimited = ratelimit.ErrRateLimited
	// ErrServer: any status 5xx.
	ErrServer = sentinel.New("prepaid: server error")
	// ErrTransferFailed: a transfer returned 200 with an empty transaction_id ("" or null): no money moved. The service caches no failure: the
	// same request ID may be sent again. [AccountsService.DiagnoseTransfer] looks for a reason.
	ErrTransferFailed = sentinel.New("prepaid: transfer failed")
	// ErrReportNotReady: the report is still processing (204).
	ErrReportNotReady = sentinel.New("prepaid: report not ready")
	// ErrReportFailed: a report poll returned 500: the report must be requested again.
	ErrReportFailed = sentinel.New("prepaid: report failed")
	// ErrRequestIDExpired: the day in the request ID ([RequestID.Date]) or LastSent of the params is out of range: the service may forget the
	// ID. The call was not sent ([OutcomeUnknown]: an earlier call may have moved the money). Also if [Config].NeverRepeatLoads forbids the
	// call.
	ErrRequestIDExpired = sentinel.New("prepaid: request ID outside the replay window")
	// ErrRequestIDReused: this client has used the request ID for another payment. The outcome of that payment is unknown, or that payment is
	// one of the last 65,536 that moved money. This call was not sent ([OutcomeRejected]; [OutcomeUnknown] if the params have LastSent) and
	// never will be. Do not pay with a new request ID: a person must decide which of the two payments is right.
	ErrRequestIDReused = sentinel.New("prepaid: request ID of another payment")
	// ErrClosed: the client was closed.
	ErrClosed = token.ErrClosed
	// ErrTooMany: more items than the limit given to [Collect].
	ErrTooMany = sentinel.New("prepaid: more items than the limit")
	// ErrAmbiguous: more than one account, movement, hook or policy rule matches.
	ErrAmbiguous = sentinel.New("prepaid: more than one match")
	// ErrNotSeen: nothing matched yet. This does not prove that nothing was created, or that nothing moved. Issue returns ErrNotSeen if the
	// account was created and not found, or belongs to another client_id: search before you call Issue again. With Again, Issue also returns
	// it, with the context's error, if the context ends before VisibleWithin.
	ErrNotSeen = sentinel.New("prepaid: nothing seen yet")
	// ErrPolicyChanged: after an Ensure method of [PolicyService] the rules are not the earlier rules plus the method's changes. Another
	// program changed the rules meanwhile, or the service has not yet made a change that it acknowledged.
	ErrPolicyChanged = sentinel.New("prepaid: the policy changed meanwhile")
)

// Fault is a field and the rule that it breaks, never the value.
type FieldError struct {
	// Field is the path, such as "registration.primary_address.country".
	Field string
	// Rule is the rule for the value, such as "must be an ISO 3166 alpha-2 code".
	Rule string
}

// ValidationError lists all faults of a request or a [Config]. Nothing was sent, except perhaps by an Ensure method: see the outcome.
type ValidationError struct {
	// Faults are the faults, in the order of the fields.
	Faults []FieldError
}

func (*ValidationError) knownOutcome() (Outcome, bool) { return OutcomeRejected, true }

func (e *ValidationError) Error() string {
	var b strings.Builder
	b.WriteString("prepaid: invalid input: ")
	for i, fault := range e.Faults {
		if i > 0 {
			b.WriteString("; ")
		}
		b.WriteString(fault.Field)
		b.WriteByte(' ')
		b.WriteString(fault.Rule)
	}
	return b.String()
}

// TransportError means that no complete response arrived.
type TransportError struct {
	// Sent is false only if it is certain that nothing reached the service.
	Sent bool
	// Step is where the exchange failed: "connect", "headers" (no response headers arrived) or "body".
	Step string
	// Err is the cause, without the request's URL.
	Err error
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
	// StatusCode is the HTTP status of the response.
	StatusCode int
	// MediaType is the response's Content-Type without parameters; "?" for a text that is none.
	MediaType string
	// Offset is the byte of the body at which decoding stopped; zero if unknown.
	Offset int64
	// Err is the cause; it quotes no content.
	Err error
}

func (e *DecodeError) Error() string {
	text := fmt.Sprintf("prepaid: undecodable response (status %d, %q, byte %d)", e.StatusCode, e.MediaType, e.Offset)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *DecodeError) Unwrap() error { return e.Err }

// transferFailedError is [ErrTransferFailed] with the service's correlation ID.
type transferFailedError struct{ correlationID string }

func (e *transferFailedError) Error() string { return ErrTransferFailed.Error() }

func (e *transferFailedError) Unwrap() error { return ErrTransferFailed }

// TokenError means that the call was not sent: no token could be obtained.
type TokenError struct {
	// Err is the cause.
	Err error
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
