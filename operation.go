package prepaid

import (
	"net/http"
	"slices"
	"strings"
)

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
	// classRead changes nothing: repeated whenever no answer came or the service was in trouble.
	classRead class = iota
	// classReplayable sets absolute values: doing it twice is doing it once.
	classReplayable
	// classKeyed carries a request id: the service answers a finished one again from its cache.
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

// answerKind is the declared form of a successful body.
type answerKind uint8

const (
	answerNone   answerKind = iota // no body
	answerJSON                     // one JSON value
	answerText                     // an octet-stream string
	answerStream                   // a JSON object read by the caller
	answerRaw                      // not shown by the reference
)

// operation is the contract of one operation: everything that the core decides by.
type operation struct {
	Operation
	class   class
	kind    answerKind
	success []int // expected statuses
	lane    Lane

	// modelsFailure: a success status may carry a refusal in its body (a failed transfer, a declined funding), so
	// an unusable answer proves nothing.
	modelsFailure bool
	// failedOn500: a 500 is final for this read.
	failedOn500 bool
	// inputStatus: a 404 may mean bad input.
	inputStatus bool
	// freshConnection: never on a kept-alive connection, where net/http would repeat a GET by itself and where a
	// 204 with a body would poison the next call.
	freshConnection bool
}

// verdict is what one attempt tells.
type verdict struct {
	outcome  Outcome
	again    bool // another attempt cannot apply the call twice
	inFlight bool // ... but the first must have time to finish
	renew    bool // ... with another token
}

// judge is the whole table of DESIGN.md, "Outcomes": what an attempt without a usable success means.
func (o *operation) judge(a *attempt) verdict {
	if a.err != nil && !a.sent {
		return verdict{outcome: OutcomeNotProcessed, again: a.status == 0 && a.connectFailed}
	}
	if a.err == nil {
		switch a.status {
		case http.StatusUnauthorized:
			switch {
			case o.class == classToken:
				return verdict{outcome: OutcomeRejected}
			case a.api != nil && a.api.Code == CodeUnauthorized && strings.HasPrefix(o.Path, "/hooks"):
				return verdict{outcome: OutcomeRejected, renew: true} // the scope, or the token
			}
			return verdict{outcome: OutcomeNotProcessed, renew: true}
		case http.StatusTooManyRequests:
			return verdict{outcome: OutcomeNotProcessed, again: true}
		}
		if a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout {
			return verdict{outcome: OutcomeRejected}
		}
	}
	if c := o.class; (c == classNever || c == classReplayable) && !o.modelsFailure &&
		slices.Contains(o.success, a.status) && a.fromService() {
		return verdict{outcome: OutcomeApplied} // the status came, its body did not
	}
	// From here on the attempt may have taken effect: cut off, 408, 3xx, 5xx, other statuses.
	trouble := a.err != nil || slices.Contains([]int{
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, a.status)
	switch o.class {
	case classRead, classToken:
		if a.status == http.StatusInternalServerError && a.err == nil {
			trouble = !o.failedOn500
		}
		return verdict{outcome: OutcomeNotProcessed, again: trouble || a.status == http.StatusRequestTimeout}
	case classReplayable:
		return verdict{outcome: OutcomeUnknown, again: trouble || a.status == http.StatusRequestTimeout ||
			a.status == http.StatusInternalServerError}
	case classKeyed:
		return verdict{outcome: OutcomeUnknown, again: trouble, inFlight: true}
	}
	return verdict{outcome: OutcomeUnknown}
}
