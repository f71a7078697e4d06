package prepaid

import (
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// CallError is the error of every call: what was tried, what is known of its effect, and why it failed. A
// test can build one from its exported fields. The zero value is an unknown outcome without a cause.
//
// Err is the cause: [*ValidationError], [*APIError], [*TransportError], [*DecodeError], [*TransferFailedError],
// [*ThrottledError], [*TokenError], a sentinel of this package, or the context's error. When an attempt that may
// have taken effect was followed by another failure, Err wraps both causes.
type CallError struct {
	// Operation is the Go name of the call, such as "Accounts.Transfer".
	Operation string
	// Outcome says what is known about the effect.
	Outcome Outcome
	// AccountID is the account the call was about; empty when it had none.
	AccountID AccountID
	// RequestID is the key of a transfer or direct entry; empty for other calls.
	RequestID RequestID
	// CorrelationID is the one the service returned or, for funding, the one that was sent.
	CorrelationID string
	// Attempts counts the requests that may have left.
	Attempts int
	// FirstSent is when the first request may have left; zero when none did.
	FirstSent time.Time
	// LastSent is when the last attempt that may have left began or, when it outlasted AttemptTimeout, that much before its
	// end; zero when none did. It may have been under way until the call returned.
	LastSent time.Time
	// NotBefore is when a transfer or direct entry out of unknown outcome may be sent again under its request id, see
	// [AccountsService.NotBefore]; zero for any other call or outcome, and with [ErrRequestIDExpired].
	NotBefore time.Time
	// Err is the cause.
	Err error

	rule settlingRule // of the client that made the error; nil otherwise
}

// settlingRule is what SettlesDoubt asks. It is here so that an error does not depend on how it is made.
type settlingRule interface {
	settledBy(refusal *CallError, lastSent time.Time) bool
}

// Error is one line without names, amounts or addresses, but for what [Config].ShowDescriptions adds.
func (e *CallError) Error() string {
	var b strings.Builder
	b.WriteString("prepaid: ")
	if e.Operation != "" {
		b.WriteString(e.Operation)
		b.WriteString(": ")
	}
	b.WriteString(e.Outcome.String())
	if e.Attempts > 1 {
		b.WriteString(" after ")
		b.WriteString(strconv.Itoa(e.Attempts))
		b.WriteString(" attempts")
	}
	if e.Err != nil {
		b.WriteString(": ")
		b.WriteString(strings.TrimPrefix(e.Err.Error(), "prepaid: "))
	}
	return b.String()
}

// Unwrap returns Err.
func (e *CallError) Unwrap() error { return e.Err }

func (e *CallError) knownOutcome() (Outcome, bool) {
	if e == nil {
		return OutcomeUnknown, false
	}
	return e.Outcome, true
}

// Is matches [ErrOutcomeUnknown] when Outcome is [OutcomeUnknown].
func (e *CallError) Is(target error) bool {
	return target == ErrOutcomeUnknown && e.Outcome == OutcomeUnknown
}

// APIError is an error response of the service (reference section 7). It prints as status and code only, and with
// [Config].ShowDescriptions the description too: description and body are the service's words and may repeat what was
// sent. The zero value is no response.
type APIError struct {
	// StatusCode is the HTTP status.
	StatusCode int
	// Code is the machine-readable code; empty when the body had none.
	Code ErrorCode
	// Description is the service's text; policy and transfer responses list the invalid fields in it.
	Description string
	// RetryAfter is the wait a 429 or 503 asked for; zero when it did not.
	RetryAfter time.Duration
	// Header is the response's header.
	Header http.Header
	// Body is the response's body, at most 64 KiB of it.
	Body []byte

	// shown is the part of Description that is printed.
	shown string
	// inputStatus marks a 404 that may mean bad input rather than a missing account.
	inputStatus bool
	// reportFailed marks the 500 of a report poll.
	reportFailed bool
}

// Error gives status and code, and with [Config].ShowDescriptions the description.
func (e *APIError) Error() string {
	text := "prepaid: status " + strconv.Itoa(e.StatusCode)
	if e.Code != "" {
		text += " (" + printableCode(e.Code) + ")"
	}
	if e.shown != "" {
		text += ": " + e.shown
	}
	return text
}

// Format prints Error for every verb, so that the body stays out of %#v and %+v.
func (e APIError) Format(f fmt.State, _ rune) { _, _ = f.Write([]byte(e.Error())) }

// MarshalText returns the text of Error, so that the rest stays out of JSON, which logs are often written in.
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

// printableCode keeps what is no code, and may repeat what was sent, out of the text: a code that is not listed
// prints when it looks like those that are.
func printableCode(code ErrorCode) string {
	const longest = 64
	if len(code) > longest || strings.ContainsFunc(string(code), func(r rune) bool { return !ascii.IsLower(r) && r != '_' }) {
		return "unlisted code"
	}
	return string(code)
}

// ErrorCode is the service's error code. It is an error, for errors.Is(err, prepaid.CodeInvalidURI). A code
// that the reference does not list is kept as it came. The zero value is no code.
type ErrorCode string

// Error returns the code.
func (c ErrorCode) Error() string { return string(c) }

// Known reports whether the reference lists the code.
func (c ErrorCode) Known() bool { return slices.Contains(errorCodes(), c) }

// The codes of reference sections 4.8 and 7.
const (
	// CodeInvalidRequest: token, webhooks: the request is malformed.
	CodeInvalidRequest ErrorCode = "invalid_request"
	// CodeUnsupportedGrantType: token: not the client-credentials grant.
	CodeUnsupportedGrantType ErrorCode = "unsupported_grant_type"
	// CodeInvalidClient: token: credentials missing (400) or wrong (401).
	CodeInvalidClient ErrorCode = "invalid_client"
	// CodeServerError: any 500.
	CodeServerError ErrorCode = "server_error"
	// CodeUnauthorized: webhooks: bad token, or a scope company the caller cannot access.
	CodeUnauthorized ErrorCode = "unauthorized"
	// CodeBadApplicationID: key exchange: unknown application.
	CodeBadApplicationID ErrorCode = "bad_application_id"
	// CodeBadKeyID: key exchange: unknown key.
	CodeBadKeyID ErrorCode = "bad_key_id"
	// CodeBadEphemeralKey: key exchange: not a 256-bit Base64 value, or used before.
	CodeBadEphemeralKey ErrorCode = "bad_ephemeral_key"
	// CodeBadAccount: key exchange: the account cannot take part.
	CodeBadAccount ErrorCode = "bad_account"
	// CodeInvalidURI: webhooks: not a valid HTTPS address.
	CodeInvalidURI ErrorCode = "invalid_uri"
	// CodeInvalidScope: webhooks: bad company list; on update also a company the caller cannot access.
	CodeInvalidScope ErrorCode = "invalid_scope"
	// CodeInvalidFilterSpec: webhooks: bad filter.
	CodeInvalidFilterSpec ErrorCode = "invalid_filter_spec"
	// CodeInvalidEnabled: webhooks: enabled is not true or false.
	CodeInvalidEnabled ErrorCode = "invalid_enabled"
	// CodeInvalidReliabilityMode: webhooks: not one of the two modes.
	CodeInvalidReliabilityMode ErrorCode = "invalid_reliability_mode"
	// CodeInvalidHMACKeyID: webhooks: bad key id.
	CodeInvalidHMACKeyID ErrorCode = "invalid_hmac_key_id"
	// CodeInvalidHMACKeySecret: webhooks: bad key.
	CodeInvalidHMACKeySecret ErrorCode = "invalid_hmac_key_secret"
	// CodeNoResponse: webhooks: the ping to an enabled hook got no response.
	CodeNoResponse ErrorCode = "no_response"
	// CodeInvalidHookID: webhooks: no such hook.
	CodeInvalidHookID ErrorCode = "invalid_hook_id"
	// CodeInvalidMessageID: webhooks: no such undeliverable message.
	CodeInvalidMessageID ErrorCode = "invalid_message_id"
)

func errorCodes() []ErrorCode {
	return []ErrorCode{
		CodeInvalidRequest, CodeUnsupportedGrantType, CodeInvalidClient, CodeServerError, CodeUnauthorized,
		CodeBadApplicationID, CodeBadKeyID, CodeBadEphemeralKey, CodeBadAccount, CodeInvalidURI, CodeInvalidScope,
		CodeInvalidFilterSpec, CodeInvalidEnabled, CodeInvalidReliabilityMode, CodeInvalidHMACKeyID,
		CodeInvalidHMACKeySecret, CodeNoResponse, CodeInvalidHookID, CodeInvalidMessageID,
	}
}

// Sentinels, for errors.Is.
var (
	// ErrOutcomeUnknown: the call may have been applied; see [OutcomeUnknown].
	ErrOutcomeUnknown = errors.New("prepaid: outcome unknown")
	// ErrBadRequest is a 400.
	ErrBadRequest = errors.New("prepaid: bad request")
	// ErrUnauthorized is a 401, and a token request that was refused.
	ErrUnauthorized = errors.New("prepaid: unauthorized")
	// ErrForbidden is a 403: no permission on the company or, perhaps, an address that is not whitelisted.
	ErrForbidden = errors.New("prepaid: forbidden")
	// ErrNotFound is a 404, except of account creation and wallet provisioning, where it may mean bad input.
	ErrNotFound = errors.New("prepaid: not found")
	// ErrConflict is a 409: the last run of a report template is not finished.
	ErrConflict = errors.New("prepaid: conflict")
	// ErrRateLimited is a 429, and a refusal by the local limiter.
	ErrRateLimited = errors.New("prepaid: rate limited")
	// ErrServer is any 5xx.
	ErrServer = errors.New("prepaid: server error")
	// ErrTransferFailed is the 200 of a transfer with an empty transaction id.
	ErrTransferFailed = errors.New("prepaid: transfer failed")
	// ErrReportNotReady is the 204 of a report that is still processing.
	ErrReportNotReady = errors.New("prepaid: report not ready")
	// ErrReportFailed is the 500 of a report poll: the service wants the report requested again.
	ErrReportFailed = errors.New("prepaid: report failed")
	// ErrTestOnly: the simulator exists in the test environment only.
	ErrTestOnly = errors.New("prepaid: test environment only")
	// ErrRequestIDExpired: the request id is too old for the service to still remember it.
	ErrRequestIDExpired = errors.New("prepaid: request id outside the replay window")
	// ErrRequestIDReused: the request id stands for another payment of this client, whose outcome is unknown or which is one
	// of the last 65,536 that moved money. This call was not sent ([OutcomeRejected]), and never can be. Do not pay under a
	// new request id: have a person decide which of the two payments is right.
	ErrRequestIDReused = errors.New("prepaid: request id of another payment")
	// ErrClosed: the client was closed.
	ErrClosed = errors.New("prepaid: client closed")
	// ErrTooMany: more items than the limit given to [Collect].
	ErrTooMany = errors.New("prepaid: more items than the limit")
	// ErrAmbiguous: more than one account matches.
	ErrAmbiguous = errors.New("prepaid: more than one match")
	// ErrNotSeen: nothing matched yet. It is no proof that nothing was made.
	ErrNotSeen = errors.New("prepaid: nothing seen yet")
	// ErrPageRepeated: a page of a list had only items of the pages before it: the service ignores the page number.
	ErrPageRepeated = errors.New("prepaid: page repeats earlier ones")
	// ErrListIncomplete: a list ended before all of its items were seen; see [IncompleteListError].
	ErrListIncomplete = errors.New("prepaid: list incomplete")
)

// Fault is one field and the rule it breaks, never the value. The zero value is not used.
type Fault struct {
	// Field is the path, such as "registration.primary_address.country".
	Field string
	// Rule is what the value must be, such as "must be an ISO 3166 alpha-2 code".
	Rule string
}

// ValidationError lists every fault of a request or a [Config]. Nothing was sent. The zero value lists none.
type ValidationError struct {
	// Faults are all faults found, in the order of the fields.
	Faults []Fault
}

func (*ValidationError) knownOutcome() (Outcome, bool) { return OutcomeRejected, true }

// Error lists the faults on one line.
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

// TransportError means that no complete response came. The zero value is a request that never left.
type TransportError struct {
	// Sent is false only when it is certain that nothing reached the service.
	Sent bool
	// Step is where it broke: "connect", "answer" or "body".
	Step string
	// Err is the cause, without the request's URL.
	Err error
}

// Error says at which step it broke.
func (e *TransportError) Error() string {
	text := "prepaid: no answer"
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

// Unwrap returns Err.
func (e *TransportError) Unwrap() error { return e.Err }

// DecodeError means that a response arrived which is not what the operation declares, or one in the error shape with a
// success status: Err is then its [ErrorCode]. The zero value is not used.
type DecodeError struct {
	// StatusCode is the HTTP status of the response.
	StatusCode int
	// MediaType is the response's Content-Type without parameters.
	MediaType string
	// Offset is the byte of the body at which decoding stopped; zero when unknown.
	Offset int64
	// Err is the cause; it names no content.
	Err error
}

// Error names the fault and the offset, not the content.
func (e *DecodeError) Error() string {
	text := fmt.Sprintf("prepaid: undecodable answer (status %d, %q, byte %d)", e.StatusCode, e.MediaType, e.Offset)
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *DecodeError) Unwrap() error { return e.Err }

// TransferFailedError is the 200 of a transfer whose transaction_id is empty ("" or null): no money moved. The service does
// not cache a failure, so the same request id may be sent again. The zero value has no correlation id.
type TransferFailedError struct {
	// CorrelationID is the service's, for a support case.
	CorrelationID string
}

// Error gives the correlation id.
func (e *TransferFailedError) Error() string {
	return fmt.Sprintf("prepaid: transfer failed (correlation id %q)", e.CorrelationID)
}

// Is matches [ErrTransferFailed].
func (e *TransferFailedError) Is(target error) bool { return target == ErrTransferFailed }

// ThrottledError means that the local limiter refused: the wait for a slot would outlast the deadline. The
// service was not asked. The zero value does not state the wait.
type ThrottledError struct {
	// Wait is how long a slot would have taken.
	Wait time.Duration
}

// Error gives the wait.
func (e *ThrottledError) Error() string {
	return fmt.Sprintf("prepaid: throttled locally: a slot needs %s, longer than the deadline", e.Wait)
}

// Is matches [ErrRateLimited].
func (e *ThrottledError) Is(target error) bool { return target == ErrRateLimited }

// TokenError means that no access token could be had, so the call was not sent. The zero value has no
// cause.
type TokenError struct {
	// Err is the cause.
	Err error
}

// Error gives the cause.
func (e *TokenError) Error() string {
	if e.Err == nil {
		return "prepaid: no access token"
	}
	return "prepaid: no access token: " + strings.TrimPrefix(e.Err.Error(), "prepaid: ")
}

// Unwrap returns Err.
func (e *TokenError) Unwrap() error { return e.Err }

// Is matches [ErrUnauthorized] when the service refused the credentials, with 400 or 401.
func (e *TokenError) Is(target error) bool {
	return target == ErrUnauthorized && errors.Is(e.Err, CodeInvalidClient)
}

// bothCauses is a failure that followed another one; unknown says that the earlier attempt may have been applied.
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
