package prepaidtest

import (
	"errors"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
)

// requestFault is one request gone wrong. It is used once, unless its schedule says otherwise.
type requestFault struct {
	schedule
	kind        faultKind
	status      int
	code        string
	contentType string
	body        string
	wait        time.Duration
	delta       int
	late        bool          // is carried out all the same
	after       time.Duration // how much later
}

type faultKind int

const (
	faultNone faultKind = iota
	faultCommitThenDrop
	faultDropBeforeCommit
	faultAnswer
	faultAnswerBody
	faultDelay
	faultTruncate
	faultSlowBody
	faultProxyPage
	faultContentType
	faultWrongLength
	faultTooMany
	faultExpireToken
)

// check finds numbers out of their range.
func (f requestFault) check() error {
	switch f.kind {
	case faultAnswer, faultAnswerBody, faultProxyPage:
		if f.status < http.StatusOK || f.status > 999 {
			return errors.New("the status must be 200 to 999")
		}
	case faultDelay, faultSlowBody, faultTooMany:
		if f.wait < 0 {
			return errors.New("the duration must not be negative")
		}
	case faultWrongLength:
		if f.delta == 0 {
			return errors.New("the length must be wrong by more than 0")
		}
	}
	switch {
	case f.late && !slices.Contains([]faultKind{faultDropBeforeCommit, faultAnswer, faultAnswerBody, faultProxyPage}, f.kind):
		return errors.New("CommitAfter is for a fault that does not carry the request out")
	case f.late && f.after <= 0:
		return errors.New("CommitAfter must be above 0")
	}
	return f.schedule.check()
}

// respond returns the response of a fault that does not carry the request out; nil for another fault.
func (f *requestFault) respond(c *exchange.Call) *exchange.Response {
	switch f.kind {
	case faultDropBeforeCommit:
		return new(exchange.Response)
	case faultAnswer:
		code := f.code
		if code == "" {
			code = usualCode(f.status)
		}
		return new(c.Refuse(f.status, code, "injected"))
	case faultAnswerBody:
		return &exchange.Response{Status: f.status, ContentType: f.contentType, Body: []byte(f.body)}
	case faultProxyPage:
		return &exchange.Response{Status: f.status, ContentType: "text/html", Body: proxyPage(f.status)}
	case faultTooMany:
		refusal := c.Refuse(http.StatusTooManyRequests, "rate_limit_exceeded", "injected")
		refusal.RetryAfter = exchange.WholeSeconds(f.wait)
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
