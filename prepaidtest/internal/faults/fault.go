// Package faults has the faults of requests and of deliveries: their types, their text form, the queue of the
// armed faults, and their effect on a response.
//
// A Fault either has its own response (Respond and similar), so that the request is not carried out, or changes how the
// response of the operation is sent. The caller handles delays and tokens. A Queue returns each fault as often as its
// Schedule says; faults for one name come before faults for any name. The only state is the armed faults, under the
// lock of the Queue.
package faults

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// Fault is a fault of one request or of one delivery of a webhook message. It is used once, unless its schedule says otherwise.
type Fault struct {
	Schedule
	Kind        Kind
	Status      int
	Code        string
	ContentType string
	Body        string
	Wait        time.Duration
	Late        bool          // the request is carried out after the response
	After       time.Duration // time from the response until then
	Copies      int           // of a message
	Pings       bool          // pings can take the fault, too
}

// Kind is the kind of a fault.
type Kind int

const (
	None Kind = iota
	CommitThenDrop
	DropBeforeCommit
	Respond
	RespondWith
	Delay
	Truncate
	ProxyPage
	ContentType
	TooMany
	ExpireToken
	Duplicate // this kind and those below are of deliveries
	Lose
	LoseResponse
	Hold
)

// Check finds numbers out of their range.
func (f Fault) Check() error {
	switch f.Kind {
	case Respond, RespondWith, ProxyPage:
		if f.Status < http.StatusOK || f.Status > 999 {
			return errors.New("the status must be 200 to 999")
		}
	case Delay, TooMany, Hold:
		if f.Wait < 0 {
			return errors.New("the duration must not be negative")
		}
	case Duplicate:
		if f.Copies < 1 {
			return errors.New("the copies must be 1 or more")
		}
	}
	switch {
	case f.Kind == Hold && f.Pings:
		return errors.New("a delay is not for pings")
	case f.Late && !slices.Contains([]Kind{DropBeforeCommit, Respond, RespondWith, ProxyPage}, f.Kind):
		return errors.New("commit-after is for a fault that does not carry the request out")
	case f.Late && f.After <= 0:
		return errors.New("the duration of commit-after must be above 0")
	}
	return f.Schedule.check()
}

// NeedsToken reports whether the fault is only for requests with an access token.
func (f Fault) NeedsToken() bool { return f.Kind == ExpireToken }

// Respond returns the response of a fault that does not carry the request out; nil for another fault.
func (f *Fault) Respond(c *exchange.Call) *exchange.Response {
	switch f.Kind {
	case DropBeforeCommit:
		return new(exchange.Response)
	case Respond:
		code := f.Code
		if code == "" {
			code = usualCode(f.Status)
		}
		return new(c.Refuse(f.Status, code, "injected"))
	case RespondWith:
		return &exchange.Response{Status: f.Status, ContentType: f.ContentType, Body: []byte(f.Body)}
	case ProxyPage:
		return &exchange.Response{Status: f.Status, ContentType: "text/html", Body: proxyPage(f.Status)}
	case TooMany:
		refusal := c.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "injected")
		refusal.RetryAfter = exchange.WholeSeconds(f.Wait)
		return &refusal
	}
	return nil
}

func proxyPage(status int) []byte {
	title := strings.TrimSpace(strconv.Itoa(status) + " " + http.StatusText(status))
	return []byte("<html>\r\n<head><title>" + title + "</title></head>\r\n<body>\r\n<center><h1>" + title +
		"</h1></center>\r\n<hr><center>proxy</center>\r\n</body>\r\n</html>\r\n")
}

func usualCode(status int) string {
	switch status {
	case http.StatusUnauthorized:
		return "unauthorized"
	case http.StatusForbidden:
		return "forbidden"
	case http.StatusNotFound:
		return "not_found"
	case http.StatusConflict:
		return "duplicate_request"
	case http.StatusTooManyRequests:
		return "rate_limit_exceeded"
	}
	if status >= http.StatusInternalServerError {
		return "server_error"
	}
	return "invalid_request"
}
