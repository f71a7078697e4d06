package prepaidvcr

import (
	"fmt"
	"strings"
)

// UnrecordedError means that a cassette has no response left for a request. Nothing was sent, and the client does not
// retry. The error names places, never values.
type UnrecordedError struct {
	// Operation is the Go name of the call, such as "Accounts.Get".
	Operation string
	// Recorded counts the requests of this operation in the cassette.
	Recorded int
	// Used counts the replayed requests.
	Used int
	// Differing are the places, such as "body.amount" or "path {id}", in which the request differs from the most similar unused recorded
	// request; empty if none is left. An ID differs if it is a pseudonym that this cassette has elsewhere, or does not fit your earlier
	// requests: accounts were swapped, or a repeated payment has a new request ID.
	Differing []string
	// LeftOut are places of the response whose values an earlier version of this package did not record: a replay would
	// have zeros there. Record the cassette again, with [Options].Keep.
	LeftOut []string
}

// Error returns one line without values.
func (e *UnrecordedError) Error() string {
	text := fmt.Sprintf("prepaidvcr: %s is not in the cassette (%d recorded, %d used)", e.Operation, e.Recorded, e.Used)
	if len(e.Differing) > 0 {
		text += ": the nearest differs in " + strings.Join(e.Differing, ", ")
	}
	if len(e.LeftOut) > 0 {
		text += ": the recording left out values of response " + strings.Join(e.LeftOut, ", ")
	}
	return text
}

// NotSent returns true: the request was never sent, and should not be retried. See prepaid.Config.Transport.
func (e *UnrecordedError) NotSent() bool { return true }

// stoppedError is the error of a request after a recording has ended.
type stoppedError struct{}

func (stoppedError) Error() string { return "prepaidvcr: the recording has ended" }

func (stoppedError) NotSent() bool { return true }

// lostError is the error of a request whose response was lost in the recording: the request was sent, and its outcome is unknown.
type lostError struct{}

func (lostError) Error() string { return "prepaidvcr: the response was lost in the recording" }

// UnusedError means that requests of a cassette were not made.
type UnusedError struct {
	// Operations are the Go names of the calls, in the order of the recording.
	Operations []string
}

// Error returns one line.
func (e *UnusedError) Error() string {
	return "prepaidvcr: recorded and not requested: " + strings.Join(e.Operations, ", ")
}

// CassetteError means that a cassette cannot be used: it does not exist or cannot be read or written, or an exchange
// could not be recorded.
type CassetteError struct {
	// Path is the file; empty if unknown.
	Path string
	// Rule is the reason.
	Rule string
	// Err is the cause; nil if Rule is complete.
	Err error
}

// Error returns one line.
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
