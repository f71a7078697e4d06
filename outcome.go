package prepaid

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
