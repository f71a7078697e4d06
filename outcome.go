package prepaid

import (
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/address"
)

// Outcome says what is known about the effect of a call. The zero value is OutcomeUnknown.
type Outcome uint8

const (
	// OutcomeUnknown is the zero value: the call may have been applied. It is also the outcome of an error that
	// is not of this package. Resolve it; never send an unkeyed call again blindly.
	OutcomeUnknown Outcome = iota
	// OutcomeApplied: it happened. The error is nil, or the response came but could not be used ([*DecodeError],
	// [*TransportError]), or a later step failed (Issue, Reporting.Run), or the client remembers that an earlier call with
	// the same request id and params moved the money; there is no result then.
	OutcomeApplied
	// OutcomeRejected: the service or a check refused it (validation, a failed transfer, or 400, 403, 404, 409 in the
	// service's own form; a gateway's page is unknown), and nothing happened. It may succeed later under the same request
	// id, when the cause goes away (a balance, a 409): whoever pays another way must never send this request id again.
	// After [ErrRequestIDReused] nobody may pay another way.
	OutcomeRejected
	// OutcomeNotProcessed: nothing happened, and the request itself is not at fault (no connection, no token, rate
	// limit, cancelled before sending, client closed): send the same params again once the cause is gone. For a read
	// it also stands for a response that never came or could not be read to its end: a read changes nothing.
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

// Operation describes a call to observers. It is of low cardinality: no id, no query. The zero value is not used.
type Operation struct {
	// Name is the Go name, such as "Accounts.Transfer".
	Name string
	// Method is the HTTP method.
	Method string
	// Path is the template, such as "/accounts/{id}/transfer".
	Path string
}

// class is the safety class of an operation, not of its HTTP method: GET of a report template starts a run.
type class uint8

const (
	// classRead changes nothing: repeated whenever no response came or the service was in trouble.
	classRead class = iota
	// classReplayable fails safe when it is repeated late: a hook is gone, an account or its plastic is blocked.
	classReplayable
	// classKeyed carries a request id: the service returns the cached response of a finished one.
	classKeyed
	// classNever must not be repeated once it may have arrived.
	classNever
	// classToken is POST /token.
	classToken
)

// String names the class as operations.txt does.
func (c class) String() string {
	return [...]string{"read", "replayable", "keyed", "never", "token"}[c]
}

// responseKind is the declared form of a successful body.
type responseKind uint8

const (
	responseNone   responseKind = iota // no body
	responseJSON                       // one JSON value
	responseText                       // an octet-stream string
	responseData                       // octet-stream data, returned as it arrives
	responseStream                     // a JSON object read by the caller
	responseRaw                        // not shown by the reference
)

// operation is the contract of one operation: everything that the core decides by.
type operation struct {
	Operation
	class   class
	kind    responseKind
	success []int // expected statuses
	lane    Lane

	// modelsFailure: a success may carry a refusal in its body (an empty transaction id of a transfer, a declined
	// funding), so an unusable body proves nothing.
	modelsFailure bool
	// failedOn500: a 500 is final for this read.
	failedOn500 bool
	// tokenOn400: a 400 may mean the token.
	tokenOn400 bool
	// inputStatus: a 404 may mean bad input.
	inputStatus bool
	// bodyAfter204: its 204 is known to come with a body.
	bodyAfter204 bool
}

// ownConnection reports whether a request opens its own connection, which is closed after it. The service may be closing
// a kept connection: an operation that is never repeated would then have an unknown outcome although the service never
// read it. On a kept connection net/http also reads bytes that follow a response without a body as the next response, or
// prints them, and prints what follows a token.
func (o *operation) ownConnection() bool {
	return o.class == classNever || o.class == classToken || o.kind == responseNone || o.bodyAfter204
}

// query is the query of a request, sorted by name; pathValues are those of a path template's parameters, in order.
type (
	query      = address.Query
	pathValues = address.Values
)

// request is what a service method describes: everything that is sent, and what the error should name.
// Nothing changes it afterwards.
type request struct {
	op    operation
	path  pathValues
	query query
	body  any // encoded once; nil for none
	form  string
	basic string // Authorization of the token request
	// encoded is body on the wire, when it is known before the call; notBefore is when an earlier movement of unknown outcome
	// under the same request id may be repeated.
	encoded   []byte
	notBefore time.Time
	moved     bool // by an earlier call with this request id and the same params

	faults    []Fault // found while describing; nothing is sent when there are any
	account   AccountID
	requestID RequestID
	bulk      bool // waits after everything else in the limiter
	// correlationID is the caller's own, for funding.
	correlationID string
}

// verdict is what one attempt means.
type verdict struct {
	outcome Outcome
	again   bool // another attempt cannot apply the call twice
	renew   bool // ... with another token
	spare   bool // ... that replaces the shared one only if it succeeds
}

// evidence is what is known of an attempt without a usable success.
type evidence struct {
	status        int
	notSent       bool // for certain
	connectFailed bool // ... and another attempt may make a connection
	complete      bool // the response arrived to its end
	declared      bool // its media type is one that the reference declares for a success
	serviceForm   bool // it is an error in the service's own form
	code          ErrorCode
}

// judge is the whole table of DESIGN.md, "Outcomes": what an attempt without a usable success means.
func (o *operation) judge(e evidence) verdict {
	if e.notSent {
		return verdict{outcome: OutcomeNotProcessed, again: e.connectFailed}
	}
	if e.complete {
		switch e.status {
		case http.StatusUnauthorized:
			switch {
			case o.class == classToken:
				return verdict{outcome: OutcomeRejected}
			case e.serviceForm && e.code == CodeUnauthorized && strings.HasPrefix(o.Path, "/hooks"):
				return verdict{outcome: OutcomeRejected, renew: true} // the scope, or the token
			}
			return verdict{outcome: OutcomeNotProcessed, renew: true}
		case http.StatusTooManyRequests:
			return verdict{outcome: OutcomeNotProcessed, again: true}
		}
		if e.status == http.StatusBadRequest && o.tokenOn400 && e.serviceForm {
			return verdict{outcome: OutcomeRejected, renew: true, spare: true}
		}
		reads := o.class == classRead || o.class == classToken
		if e.status >= 400 && e.status < 500 && e.status != http.StatusRequestTimeout && (reads || e.serviceForm) {
			return verdict{outcome: OutcomeRejected}
		}
	}
	expected := slices.Contains(o.success, e.status)
	if !e.complete && expected && e.declared && o.class == classNever && o.kind != responseNone && !o.modelsFailure {
		return verdict{outcome: OutcomeApplied} // the status arrived, its body did not
	}
	// From here on the attempt may have taken effect: cut off, 408 and the 4xx of a gateway, 3xx, 5xx, other statuses, a
	// success status with an error or with a body where none is due.
	trouble := !e.complete || slices.Contains([]int{
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, e.status)
	switch o.class {
	case classRead, classToken:
		if e.status == http.StatusInternalServerError && e.complete {
			trouble = !o.failedOn500
		}
		return verdict{outcome: OutcomeNotProcessed, again: trouble || expected || e.status == http.StatusRequestTimeout}
	case classReplayable:
		return verdict{outcome: OutcomeUnknown, again: trouble || expected || e.status/100 == 4 ||
			e.status == http.StatusInternalServerError}
	case classKeyed:
		return verdict{outcome: OutcomeUnknown, again: trouble}
	}
	return verdict{outcome: OutcomeUnknown}
}
