package prepaid

import (
	"errors"
	"net/http"
	"strings"
)

// Outcome says what is known about the effect of a call. The zero value is OutcomeUnknown.
type Outcome uint8

const (
	// OutcomeUnknown is the zero value: the call may have been applied. It is also the answer for an error that
	// is not of this package. Resolve it; never send an unkeyed call again blindly.
	OutcomeUnknown Outcome = iota
	// OutcomeApplied: it happened. The error is nil, or the answer came but could not be used ([*DecodeError],
	// [*TransportError]), or a later step failed (Issue, Reporting.Run); there is no result then.
	OutcomeApplied
	// OutcomeRejected: the service or a check refused it (validation, a failed transfer, or 400, 403, 404, 409 in the
	// service's own form; a gateway's page is unknown), and nothing happened. It may succeed later under the same request
	// id, when the cause goes away (a balance, a 409): whoever pays another way must never send this request id again.
	OutcomeRejected
	// OutcomeNotProcessed: nothing happened, and the request itself is not at fault (no connection, no token, rate
	// limit, cancelled before sending, client closed): send the same params again once the cause is gone. For a read
	// it also stands for an answer that never came or could not be read to its end: a read changes nothing.
	OutcomeNotProcessed
)

// String names the outcome.
func (o Outcome) String() string {
	switch o {
	case OutcomeUnknown:
		return "outcome unknown"
	case OutcomeApplied:
		return "applied"
	case OutcomeRejected:
		return "rejected"
	case OutcomeNotProcessed:
		return "not processed"
	}
	return "outcome invalid"
}

// OutcomeOf classifies err. It is the only question a payment loop needs to ask: nil is [OutcomeApplied], an
// error that holds no [*CallError] is [OutcomeUnknown], except that a [*ValidationError] is [OutcomeRejected]: nothing
// was sent. Of several joined errors an unknown one decides, otherwise the first.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeApplied
	}
	outcome, _ := outcomeIn(err)
	return outcome
}

// SettlesDoubt reports whether err, the result of sending a transfer or direct entry out again under its request id,
// proves that no earlier sending moved the money. The service answers a request id that it has carried out
// with the very same answer (section 8), so its own refusal of the same params says that it has not: a failed transfer,
// or a 400 in the service's own form. Anything else proves nothing: another status, which a gateway may have given
// before the service looked; the page of a proxy; a request that was not processed.
//
// The earlier sending must have had time to finish, see [RetryPolicy].InFlightWait, and the params must be its own. A
// [Client] sees to both, and applies this rule, for the calls it has made itself ([ErrRequestIDReused]); what was sent
// by another process is for its caller to judge.
func SettlesDoubt(err error) bool { return settlesDoubt(OutcomeOf(err), err) }

func settlesDoubt(outcome Outcome, err error) bool {
	if outcome != OutcomeRejected {
		return false
	}
	if errors.Is(err, ErrTransferFailed) {
		return true
	}
	answer, ok := errors.AsType[*APIError](err)
	return ok && answer.StatusCode == http.StatusBadRequest && isCodeWord(string(answer.Code)) &&
		strings.HasPrefix(mediaTypeOf(answer.Header.Get("Content-Type")), "application/vnd.")
}

// isCodeWord reports the form of all the codes that the reference shows, which a gateway's "Bad Request" has not.
func isCodeWord(code string) bool {
	return code != "" && !strings.ContainsFunc(code, func(r rune) bool { return (r < 'a' || r > 'z') && r != '_' && (r < '0' || r > '9') })
}

// outcomeIn finds the outermost CallError on each branch of err's tree.
func outcomeIn(err error) (Outcome, bool) {
	if call, ok := err.(*CallError); ok {
		if call == nil {
			return OutcomeUnknown, false
		}
		return call.Outcome, true
	}
	if _, ok := err.(*ValidationError); ok {
		return OutcomeRejected, true
	}
	switch e := err.(type) {
	case interface{ Unwrap() error }:
		if inner := e.Unwrap(); inner != nil {
			return outcomeIn(inner)
		}
	case interface{ Unwrap() []error }:
		first, found := OutcomeUnknown, false
		for _, inner := range e.Unwrap() {
			outcome, ok := outcomeIn(inner)
			if !ok {
				continue
			}
			if outcome == OutcomeUnknown {
				return OutcomeUnknown, true
			}
			if !found {
				first, found = outcome, true
			}
		}
		return first, found
	}
	return OutcomeUnknown, false
}
