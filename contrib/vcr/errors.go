package prepaidvcr

import (
	"fmt"
	"strings"
)

// UnrecordedError means that a cassette has no answer left to a request. Nothing was sent, and the client does not try
// again. It names places, never values. The zero value is not used.
type UnrecordedError struct {
	// Operation is the Go name of the call, such as "Accounts.Get".
	Operation string
	// Recorded counts the requests of this operation in the cassette.
	Recorded int
	// Used counts those of them that have been answered.
	Used int
	// Differing are the places, such as "body.amount" or "query with_personal", in which the request differs from the
	// recorded one that is left and most like it; empty when none is left.
	Differing []string
	// Contradicting are the places in which the request is about something else than the recorded one that is like it: a
	// pseudonym of this cassette that stands elsewhere there, or an id that stood for another one before. Accounts were
	// swapped, or a repeated payment has a new request id.
	Contradicting []string
}

// Error is one line without values.
func (e *UnrecordedError) Error() string {
	text := fmt.Sprintf("prepaidvcr: %s is not in the cassette (%d recorded, %d used)", e.Operation, e.Recorded, e.Used)
	if len(e.Differing) > 0 {
		text += ": the nearest differs in " + strings.Join(e.Differing, ", ")
	}
	if len(e.Contradicting) > 0 {
		text += ": the one like it is about another value in " + strings.Join(e.Contradicting, ", ")
	}
	return text
}

// NotSent reports true: the request never left, and is not worth another attempt. See prepaid.Config.Transport.
func (e *UnrecordedError) NotSent() bool { return true }

// stoppedError is that of a request after the end of a recording.
type stoppedError struct{}

func (stoppedError) Error() string { return "prepaidvcr: the recording has ended" }

func (stoppedError) NotSent() bool { return true }

// lostError is that of a request whose answer was lost when it was recorded: sent, and nobody knows more.
type lostError struct{}

func (lostError) Error() string { return "prepaidvcr: the answer was lost in the recording" }

// UnusedError means that a cassette holds requests that were not made. The zero value is not used.
type UnusedError struct {
	// Operations are the Go names of the calls, in the order of the recording.
	Operations []string
}

// Error is one line.
func (e *UnusedError) Error() string {
	return "prepaidvcr: recorded and not asked for: " + strings.Join(e.Operations, ", ")
}

// CassetteError means that a cassette cannot be used: it is not there, cannot be read or written, or the recording of
// an exchange failed. The zero value is not used.
type CassetteError struct {
	// Path is the file; empty when the error is about its content.
	Path string
	// Rule says what is wrong.
	Rule string
	// Err is the cause; nil when Rule says it all.
	Err error
}

// Error is one line.
func (e *CassetteError) Error() string {
	text := "prepaidvcr: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	text += e.Rule
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

// Unwrap returns Err.
func (e *CassetteError) Unwrap() error { return e.Err }

// UnscrubbedError means that a cassette or fixture holds what should not be there. The zero value is not used.
type UnscrubbedError struct {
	// Path is the file; empty when it was read from elsewhere.
	Path string
	// Findings are the places, in order.
	Findings []Finding
}

// Error is one line with the first places.
func (e *UnscrubbedError) Error() string {
	const shown = 5
	places := make([]string, 0, shown)
	for _, finding := range e.Findings[:min(shown, len(e.Findings))] {
		places = append(places, finding.String())
	}
	text := "prepaidvcr: "
	if e.Path != "" {
		text += e.Path + ": "
	}
	text += fmt.Sprintf("%d unscrubbed: %s", len(e.Findings), strings.Join(places, ", "))
	if len(e.Findings) > shown {
		text += " …"
	}
	return text
}
