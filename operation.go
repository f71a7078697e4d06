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
	// classReplayable fails safe when it is repeated late: a hook is gone, an account or its plastic is blocked.
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
	answerData                     // octet-stream data, returned as it arrives
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
	return o.class == classNever || o.class == classToken || o.kind == answerNone || o.bodyAfter204
}

// verdict is what one attempt tells.
type verdict struct {
	outcome Outcome
	again   bool // another attempt cannot apply the call twice
	renew   bool // ... with another token
	spare   bool // ... that replaces the shared one only if it succeeds
}

// judge is the whole table of DESIGN.md, "Outcomes": what an attempt without a usable success means.
func (o *operation) judge(a *attempt) verdict {
	if a.err != nil && !a.sent {
		return verdict{outcome: OutcomeNotProcessed, again: a.status == 0 && a.connectFailed}
	}
	if a.err == nil {
		ownForm := a.serviceForm()
		switch a.status {
		case http.StatusUnauthorized:
			switch {
			case o.class == classToken:
				return verdict{outcome: OutcomeRejected}
			case ownForm && a.api.Code == CodeUnauthorized && strings.HasPrefix(o.Path, "/hooks"):
				return verdict{outcome: OutcomeRejected, renew: true} // the scope, or the token
			}
			return verdict{outcome: OutcomeNotProcessed, renew: true}
		case http.StatusTooManyRequests:
			return verdict{outcome: OutcomeNotProcessed, again: true}
		}
		if a.status == http.StatusBadRequest && o.tokenOn400 && ownForm {
			return verdict{outcome: OutcomeRejected, renew: true, spare: true}
		}
		reads := o.class == classRead || o.class == classToken
		if a.status >= 400 && a.status < 500 && a.status != http.StatusRequestTimeout && (reads || ownForm) {
			return verdict{outcome: OutcomeRejected}
		}
	}
	expected := slices.Contains(o.success, a.status)
	if a.err != nil && expected && a.declared(o.kind) && o.class == classNever && o.kind != answerNone && !o.modelsFailure {
		return verdict{outcome: OutcomeApplied} // the status arrived, its body did not
	}
	// From here on the attempt may have taken effect: cut off, 408 and the 4xx of a gateway, 3xx, 5xx, other statuses, a
	// success status with an error or with a body where none is due.
	trouble := a.err != nil || slices.Contains([]int{
		http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout,
	}, a.status)
	switch o.class {
	case classRead, classToken:
		if a.status == http.StatusInternalServerError && a.err == nil {
			trouble = !o.failedOn500
		}
		return verdict{outcome: OutcomeNotProcessed, again: trouble || expected || a.status == http.StatusRequestTimeout}
	case classReplayable:
		return verdict{outcome: OutcomeUnknown, again: trouble || expected || a.status/100 == 4 ||
			a.status == http.StatusInternalServerError}
	case classKeyed:
		return verdict{outcome: OutcomeUnknown, again: trouble}
	}
	return verdict{outcome: OutcomeUnknown}
}

// serviceForm reports an error in the form of section 7: a JSON object with a non-empty string `error`, under the media type
// of the service or application/json, which proxies put in its place. Any other 4xx may be a gateway's own, given before or
// after the service took the request, and so may one whose code is the status in words, as many frameworks write it.
func (a *attempt) serviceForm() bool {
	return a.api != nil && a.declared(answerJSON) && a.api.Code != "" && string(a.api.Code) != http.StatusText(a.status)
}
