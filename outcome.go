package prepaid

import (
	"errors"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/address"
	"github.com/cardprograms/prepaid/internal/liveness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// Outcome is the known effect of a call. The zero value is OutcomeUnknown.
type Outcome uint8

const (
	// OutcomeUnknown: the call may have been applied. Resolve it; never blindly repeat a call without a request ID. Errors from outside this
	// package have this outcome too.
	OutcomeUnknown Outcome = iota
	// OutcomeApplied: the call took effect. With an error, the response arrived but could not be used ([*DecodeError], [*TransportError]), a
	// later step failed (Issue, Reporting.Run), or this client had already made the payment.
	OutcomeApplied
	// OutcomeRejected: the service or a check refused the call, and nothing happened (validation, a failed transfer, or 400, 403, 404 or 409
	// in the service's own form; after a gateway's page the outcome is unknown). A 403 ([ErrForbidden]) is about your permissions, not about
	// the payment. The call may succeed later with the same request ID, when the cause is gone (a balance, a 409). If you pay some other way
	// instead, never send this request ID again; after [ErrRequestIDReused], do not pay some other way. If another process, or this program
	// before a restart, sent the payment with unknown outcome, set LastSent: otherwise a rejection means only that this call moved nothing.
	OutcomeRejected
	// OutcomeNotProcessed: nothing happened, and the request is not at fault (no connection, no token, rate limit, cancelled before sending,
	// client closed). Send the same params again once the cause is gone, not in a loop. For a read it also means no complete response.
	OutcomeNotProcessed
)

// String returns "unknown", "applied", "rejected" or "not_processed", the words of every log, trace and store.
func (o Outcome) String() string {
	switch o {
	case OutcomeUnknown:
		return "unknown"
	case OutcomeApplied:
		return "applied"
	case OutcomeRejected:
		return "rejected"
	case OutcomeNotProcessed:
		return "not_processed"
	}
	return "invalid"
}

func (o Outcome) MarshalText() ([]byte, error) { return []byte(o.String()), nil }

// UnmarshalText reads the words of String, and the earlier ones "outcome unknown" and "not processed". Errors: a *[ValidationError].
func (o *Outcome) UnmarshalText(text []byte) error {
	word := string(text)
	switch word {
	case "outcome unknown":
		word = OutcomeUnknown.String()
	case "not processed":
		word = OutcomeNotProcessed.String()
	}
	for known := OutcomeUnknown; known <= OutcomeNotProcessed; known++ {
		if known.String() == word {
			*o = known
			return nil
		}
	}
	return &ValidationError{Faults: []FieldError{{"outcome", "must be one of the four outcomes, in words"}}}
}

// OutcomeOf returns the outcome of the call that returned err: [OutcomeApplied] for nil, [OutcomeRejected] for a [*ValidationError] and the
// errors of [ParseAmount] and [ParseDate], and [OutcomeUnknown] for any other error without a [*CallError], even one of
// [Message.UnmarshalJSON]: the message may report a movement. In joined errors, only those with an outcome count: the result is
// OutcomeUnknown if one of them is unknown, otherwise the first outcome. After [ErrRequestIDReused] do not pay some other way, although the
// outcome is rejected. After [ErrRequestIDExpired] sending again resolves nothing. A person must resolve both.
func OutcomeOf(err error) Outcome {
	if err == nil {
		return OutcomeApplied
	}
	outcome, _ := outcomeIn(err)
	return outcome
}

// outcomeIn finds the outermost error that has an outcome, on each branch of err's tree.
func outcomeIn(err error) (Outcome, bool) {
	if e, ok := err.(interface{ knownOutcome() (Outcome, bool) }); ok {
		return e.knownOutcome()
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

// valueError is a sentinel for a value that cannot be read. The value may be from a response, so the outcome is unknown.
type valueError struct{ text string }

func (e *valueError) Error() string { return e.text }

func (e *valueError) Is(target error) bool { return target == ErrSyntax && e != ErrAmountRange }

func (*valueError) knownOutcome() (Outcome, bool) { return OutcomeUnknown, true }

// inputError is the same sentinel for text that the caller passed.
type inputError valueError

// ofInput returns a sentinel as an error about the caller's input: nothing was sent.
func ofInput(err error) error {
	if sentinel, ok := errors.AsType[*valueError](err); ok {
		return (*inputError)(sentinel)
	}
	return err
}

func (e *inputError) Error() string { return e.text }

func (e *inputError) Unwrap() error { return (*valueError)(e) }

func (*inputError) knownOutcome() (Outcome, bool) { return OutcomeRejected, true }

// Operation describes a call to observers. It has neither ID nor query.
type Operation struct {
	Name   string // the Go name, such as "Accounts.Transfer", or, for [Client.Do], method and path, such as "PUT /accounts/{id}/expiry"
	Method string // the HTTP method
	Path   string // the path template, such as "/accounts/{id}/transfer"
}

// class is the safety class of an operation, which its HTTP method does not determine: GET of a report template starts a run.
type class uint8

const (
	classRead class = iota // changes nothing; it is repeated if no response arrived or the service failed
	// classRepeated fails safe if repeated late: it blocks an account or plastic again, or deletes nothing more.
	classRepeated
	// classKeyed has a request ID: if a request with this ID has finished, the service returns its cached response.
	classKeyed
	// classNever must not be repeated once the request may have arrived.
	classNever
	// classToken is POST /token.
	classToken
)

// String returns the name of the class, as in x-safety.
func (c class) String() string {
	return [...]string{"read", "repeated", "keyed", "never", "token"}[c]
}

// responseKind is the declared form of a successful body.
type responseKind uint8

const (
	responseNone   responseKind = iota // no body
	responseJSON                       // one JSON value
	responseText                       // an octet-stream string
	responseData                       // octet-stream data, returned as it arrives
	responseStream                     // a JSON object read by the caller
	responseRaw                        // unspecified by the reference
)

// operation is the contract of one operation: all data for the core's decisions.
type operation struct {
	Operation
	class   class
	kind    responseKind
	success []int // expected statuses
	lane    ratelimit.Lane
	never   []string // values of the deciding param with which the class is classNever

	// modelsFailure: a success may contain a refusal (an empty transaction ID of a transfer, a declined funding), so an unusable body proves
	// nothing.
	modelsFailure bool
	// failedOn500: a 500 is final for this read.
	failedOn500 bool
	// tokenOn400: a 400 may be due to the token.
	tokenOn400 bool
	// inputStatus: a 404 may mean bad input.
	inputStatus bool
	// bodyAfter204: the service may send a body with its 204.
	bodyAfter204 bool
}

// ownConnection reports whether a request opens its own connection, which is closed afterwards. The service may be closing a kept
// connection: an operation that is never repeated would then have an unknown outcome although the service never read its request. Also, if
// bytes follow a response without a body on a kept connection, net/http reads them as the next response or logs them; after a token
// response it logs them. Neither can happen over HTTP/2: see [exchange.Request].Lead.
func (o *operation) ownConnection() bool {
	return o.class == classNever || o.class == classToken || o.kind == responseNone || o.bodyAfter204
}

// with returns o for a request with this value of its deciding param.
func (o operation) with(value string) operation {
	if slices.Contains(o.never, value) {
		o.class = classNever
	}
	return o
}

// movesMoney reports whether the body of a success shows if money moved.
func (o *operation) movesMoney() bool { return o.class == classKeyed || o.modelsFailure }

// query is the query of a request, sorted by name; pathValues are the values of the path template's parameters, in order.
type (
	query      = address.Query
	pathValues = address.Values
)

// request describes a call of a service method: the whole request, and the values that a CallError names. It does not change afterwards.
type request struct {
	op    operation
	path  pathValues
	query query
	// header has further headers of Do.
	header http.Header
	// expanded is the path with its values, if they are not in path.
	expanded string
	basic    string // Authorization of the token request
	// encoded is the body of every attempt, nil for none; unencodable is why encoded is not the body.
	encoded     []byte
	unencodable error
	unknown     liveness.Request // an earlier movement of unknown outcome with the same request ID
	lastSent    time.Time        // when another process sent a movement of unknown outcome; else zero
	moved       bool             // an earlier call with this request ID and the same params moved the money

	faults    []FieldError // found while describing; if there are any, nothing is sent
	account   AccountID
	requestID RequestID
	bulk      bool // has the lowest priority in the limiter
	once      bool // makes one attempt
	fresh     bool // on its own connection
	// awaited is for a page that is fetched ahead; it is closed when the caller waits for the page. Until then the request has the lowest
	// priority.
	awaited <-chan struct{}
	// correlationID is the caller's, for funding.
	correlationID string
}

// decision is the conclusion from one attempt.
type decision struct {
	outcome Outcome
	again   bool // another attempt cannot apply the call twice
	renew   bool // the same, with another token
	spare   bool // the new token is shared only if the attempt succeeds
}

// evidence holds the facts about an attempt by which judge decides.
type evidence struct {
	status        int
	notSent       bool // it is certain that nothing was sent
	connectFailed bool // no connection was made; another attempt may make one
	complete      bool // the response was read to its end
	declared      bool // its media type is one that the reference declares for a success
	serviceForm   bool // it is an error in the service's own form
	code          ErrorCode
	refused       error // why the decoder did not accept a success
	fromService   bool  // the success may be the service's
}

// judge returns the decision about an attempt without a usable success. It is the whole table of DESIGN.md, "Outcomes".
func (o *operation) judge(e evidence) decision {
	switch {
	case e.notSent:
		return decision{outcome: OutcomeNotProcessed, again: e.connectFailed}
	case e.refused != nil:
		return decision{outcome: o.judgeBody(e)}
	case e.complete && e.status == http.StatusTooManyRequests:
		return decision{outcome: OutcomeNotProcessed, again: true}
	case e.complete && e.status >= 400 && e.status < 500:
		if d, certain := o.judgeRefusal(e); certain {
			return d
		}
	case !e.complete && e.declared && slices.Contains(o.success, e.status):
		if o.class == classNever && o.kind != responseNone && !o.modelsFailure {
			return decision{outcome: OutcomeApplied} // the status arrived, its body did not
		}
	}
	// From here on the attempt may have taken effect: a broken exchange, 408 and the 4xx of a gateway, 3xx, 5xx, other statuses, a success
	// status with an error or with an unexpected body.
	return o.judgeUnknown(e)
}

// judgeBody returns the outcome of a success whose body the decoder refused.
func (o *operation) judgeBody(e evidence) Outcome {
	switch {
	case errors.Is(e.refused, ErrTransferFailed):
		return OutcomeRejected
	case errors.Is(e.refused, ErrReportNotReady), o.class == classRead && !e.fromService:
		return OutcomeNotProcessed
	case o.class == classKeyed, o.class == classRepeated, o.class == classNever && (o.modelsFailure || !e.declared):
		return OutcomeUnknown
	}
	return OutcomeApplied
}

// judgeRefusal returns the decision about a complete 4xx, and whether it proves that nothing happened.
func (o *operation) judgeRefusal(e evidence) (d decision, certain bool) {
	reads := o.class == classRead || o.class == classToken
	switch {
	case e.status == http.StatusUnauthorized && o.class != classToken:
		if e.serviceForm && e.code == CodeUnauthorized && strings.HasPrefix(o.Path, "/hooks") {
			return decision{outcome: OutcomeRejected, renew: true, spare: true}, true // due to the scope or the token
		}
		return decision{outcome: OutcomeNotProcessed, renew: true}, true
	case e.status == http.StatusBadRequest && o.tokenOn400 && e.serviceForm:
		return decision{outcome: OutcomeRejected, renew: true, spare: true}, true
	}
	return decision{outcome: OutcomeRejected}, e.status != http.StatusRequestTimeout && (reads || e.serviceForm)
}

// judgeUnknown returns the decision about an attempt that may have taken effect.
func (o *operation) judgeUnknown(e evidence) decision {
	expected := slices.Contains(o.success, e.status)
	temporary := !e.complete || slices.Contains([]int{
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, e.status)
	switch o.class {
	case classRead, classToken:
		if e.status == http.StatusInternalServerError && e.complete {
			temporary = !o.failedOn500
		}
		return decision{outcome: OutcomeNotProcessed, again: temporary || expected || e.status == http.StatusRequestTimeout}
	case classRepeated:
		return decision{outcome: OutcomeUnknown, again: temporary || expected || e.status == http.StatusInternalServerError ||
			e.status/100 == 4 && e.status != http.StatusProxyAuthRequired}
	case classKeyed:
		return decision{outcome: OutcomeUnknown, again: temporary}
	}
	return decision{outcome: OutcomeUnknown}
}

// history says what became of the requests with the same request ID before the last one, of this call and of earlier ones.
type history struct {
	applied bool // one moved the money
	unknown bool // one may have moved it
	refuted bool // the last response proves that none did
}

// conclude returns the outcome of a call from that of its last attempt. Once an earlier request may have moved the money, the outcome is
// unknown until a success or a proof.
func (h history) conclude(last Outcome) Outcome {
	switch {
	case h.applied:
		return OutcomeApplied
	case h.unknown && !h.refuted && last != OutcomeApplied:
		return OutcomeUnknown
	}
	return last
}
