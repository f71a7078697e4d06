package faults

import (
	"context"
	"crypto/tls"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// wireFault is the service's handling of one request, and the known outcome for each class.
type wireFault struct {
	name     string
	effect   bool                                       // the service carries the request out
	response func(conn net.Conn, f *contract.Fixture)   // after the request was read
	dial     func(t *testing.T, config *prepaid.Config) // for faults that come before a request
	waits    bool                                       // for the end of an attempt or for throttling
	unseen   bool                                       // no request reaches the service, and the client cannot know
	// request has the number of attempts that may have arrived, then the outcome, by safety class; where they differ, also
	// by x-body, or "empty" for a list whose 204 is an empty one.
	request map[string]string
	then    []wireFault // the handling of the requests after the first
	unread  bool        // a body that does not count as the service's, with the status of the success
	few     bool        // one operation of each class represents all
	cause   cause
}

// cause is the reason in the error of a call that fails.
type cause struct {
	step   string // of a *TransportError
	status int    // of an *APIError
	code   prepaid.ErrorCode
	body   int // status of a *DecodeError; 0 if none, -1 for that of the success
	is     error
	has    func(error) bool
}

func (want cause) check(t *testing.T, c *tableCase, err error) {
	t.Helper()
	switch {
	case want.step != "":
		failure := harness.As[*prepaid.TransportError](t, err)
		require.Equal(t, want.step, failure.Step)
		require.Equal(t, want.step != "connect", failure.Sent)
	case want.body == http.StatusNoContent && c.operation.Name == "Reporting.Result":
		require.ErrorIs(t, err, prepaid.ErrReportNotReady)
	case want.body != 0:
		status := want.body
		if status < 0 {
			status = c.fixture.Response.Status
		}
		if status == http.StatusNoContent && want.code != "" {
			status = http.StatusOK // see sayFailed
		}
		require.Equal(t, status, harness.As[*prepaid.DecodeError](t, err).StatusCode)
	default:
		failure := harness.As[*prepaid.APIError](t, err)
		require.Equal(t, want.status, failure.StatusCode)
		require.Equal(t, want.code, failure.Code)
		require.Equal(t, want.status == http.StatusInternalServerError && c.operation.Name == "Reporting.Result", errors.Is(err, prepaid.ErrReportFailed))
		if want.code != "" {
			require.Equal(t, "canary", failure.Description)
		}
		if want.status == http.StatusNotFound && !c.isRaw() {
			require.Equal(t, c.operation.Also["404"] != "input", errors.Is(err, prepaid.ErrNotFound), "it may mean bad input")
		}
	}
	if want.code != "" {
		require.ErrorIs(t, err, want.code)
	}
	if want.is != nil {
		require.ErrorIs(t, err, want.is)
	}
	require.True(t, want.has == nil || want.has(err), "%v", err)
}

func holds[E error](err error) bool {
	_, ok := errors.AsType[E](err)
	return ok
}

// always is the same whatever the class.
func always(what string) map[string]string {
	return map[string]string{"token": what, "read": what, "repeated": what, "keyed": what, "never": what}
}

func wireFaults() []wireFault {
	doubt := map[string]string{"token": "3N", "read": "3N", "repeated": "3U", "keyed": "3U", "never": "1U"}
	final := map[string]string{"token": "1N", "read": "1N", "repeated": "1U", "keyed": "1U", "never": "1U"}
	foreign := map[string]string{"token": "1R", "read": "1R", "repeated": "3U", "keyed": "1U", "never": "1U"}
	connect, cut := cause{step: "connect"}, cause{step: "headers"}
	api := func(status int, code prepaid.ErrorCode, is error) cause {
		return cause{status: status, code: code, is: is}
	}
	unread := map[string]string{
		"token": "1A", "read": "1A", "repeated": "3U", "keyed": "1U", "never": "1A", "never, none": "1U", "never, refusal": "1U",
	}
	proxy := map[string]string{"token": "1N", "read": "1N", "repeated": "3U", "keyed": "1U", "never": "1U"}
	return []wireFault{
		{name: "none", effect: true, response: sayWell, request: always("1S"), few: true},
		{name: "connection refused", dial: dialRefused, request: always("0N"), cause: cause{step: "connect", is: syscall.ECONNREFUSED}},
		{name: "no such host", dial: dialNameless, request: always("0N"), cause: cause{step: "connect", has: holds[*net.DNSError]}},
		{name: "handshake fails", dial: dialHangUp, request: always("0N"), cause: connect},
		{
			name: "untrusted certificate", dial: dialUntrusted(tls.VersionTLS12), request: always("0N"), few: true,
			cause: cause{step: "connect", has: holds[*tls.CertificateVerificationError]},
		},
		{
			name: "TLS 1.1", dial: dialUntrusted(tls.VersionTLS11), request: always("0N"), few: true,
			cause: cause{step: "connect", has: func(err error) bool { return strings.Contains(err.Error(), "protocol version") }},
		},
		{
			name: "reset before anything was written", dial: dialReset, unseen: true, cause: cut,
			request: with(doubt, map[string]string{"keyed": "1U"}),
		},
		{name: "no connection in time", dial: dialForever, waits: true, request: always("0N"), cause: connect},
		{name: "reset before the effect", response: sayReset, request: doubt, cause: cut},
		{name: "reset after the effect", effect: true, response: sayReset, request: doubt, cause: cut},
		{name: "no response in time", effect: true, waits: true, request: doubt, cause: cut},
		{name: "not HTTP", effect: true, response: sayNoHTTP, request: doubt, cause: cut, few: true},
		{
			name: "500", effect: true, response: sayError(500, "server_error"), cause: api(500, prepaid.CodeServerError, prepaid.ErrServer),
			request: with(doubt, map[string]string{"keyed": "1U"}),
		},
		{
			name: "502", effect: true, response: sayError(502, "bad_gateway"), request: doubt,
			cause: api(502, "bad_gateway", prepaid.ErrServer),
		},
		{
			name: "502 without a body", effect: true, response: say(502, "", ""), request: doubt,
			cause: api(502, "", prepaid.ErrServer), few: true,
		},
		{
			name: "503", effect: true, response: sayError(503, "unavailable"), request: doubt,
			cause: api(503, "unavailable", prepaid.ErrServer),
		},
		{name: "504", effect: true, response: sayError(504, "timeout"), request: doubt, cause: api(504, "timeout", prepaid.ErrServer)},
		{
			name: "504 as text", effect: true, response: say(504, "text/plain", "canary"), request: doubt, few: true,
			cause: api(504, "", prepaid.ErrServer),
		},
		{
			name: "502 in HTML", effect: true, response: say(502, "text/html", "<h1>Bad gateway</h1>"), request: doubt,
			cause: api(502, "", prepaid.ErrServer),
		},
		{
			name: "429 for ever", waits: true, response: sayError(429, "rate_limit_exceeded"), request: always("+N"),
			cause: api(429, "rate_limit_exceeded", prepaid.ErrRateLimited),
		},
		{
			name: "401 for ever", response: sayError(401, "invalid_token"), cause: api(401, "invalid_token", prepaid.ErrUnauthorized),
			request: with(always("2N"), map[string]string{"token": "1N"}),
		},
		{
			name: "401 for a stale token", response: sayError(401, "invalid_token"), few: true,
			then:    []wireFault{{effect: true, response: sayWell}},
			request: with(always("2S"), map[string]string{"token": "1N"}),
		},
		{
			name: "400", response: sayError(400, "invalid_request"), request: always("1R"),
			cause: api(400, prepaid.CodeInvalidRequest, prepaid.ErrBadRequest),
		},
		{
			name: "403", response: sayError(403, "forbidden"), request: always("1R"),
			cause: api(403, "forbidden", prepaid.ErrForbidden), few: true,
		},
		{name: "404", response: sayError(404, "not_found"), request: always("1R"), cause: api(404, "not_found", nil)},
		{
			name: "409", response: sayError(409, "duplicate"), request: always("1R"),
			cause: api(409, "duplicate", prepaid.ErrConflict), few: true,
		},
		{
			name: "409 under a substituted media type", request: always("1R"), cause: api(409, "duplicate", prepaid.ErrConflict),
			response: say(409, "application/json", `{"error":"duplicate","error_description":"canary"}`),
		},
		{
			name: "403 in HTML", effect: true, response: say(403, "text/html", "<h1>Bad gateway</h1>"), request: foreign,
			cause: api(403, "", prepaid.ErrForbidden),
		},
		{name: "404 without a body", effect: true, response: say(404, "", ""), request: foreign, cause: api(404, "", nil)},
		{
			name: "409 without a code", effect: true, response: say(409, "application/vnd.vendor+json", `{"message":"lost"}`),
			request: foreign,
			cause:   api(409, "", prepaid.ErrConflict),
		},
		{
			name: "409 without a body", effect: true, response: say(409, "", ""), request: foreign, few: true,
			cause: api(409, "", prepaid.ErrConflict),
		},
		{
			name: "400 of another vendor", effect: true, request: foreign, cause: api(400, "duplicate", prepaid.ErrBadRequest),
			response: say(400, "application/vnd.gate+json", `{"error":"duplicate","error_description":"canary"}`),
		},
		{
			name: "400 as text", effect: true, request: foreign, cause: api(400, "duplicate", prepaid.ErrBadRequest),
			response: say(400, "text/plain", `{"error":"duplicate","error_description":"canary"}`),
		},
		{
			name: "408", effect: true, response: sayError(408, "timeout"), cause: api(408, "timeout", nil),
			request: with(doubt, map[string]string{"keyed": "1U"}),
		},
		{name: "302", effect: true, response: say(302, "", ""), request: final, cause: api(302, "", nil)},
		{name: "203", effect: true, response: sayUnlike(203), request: final, cause: cause{body: 203}},
		{
			name: "204", effect: true, response: sayUnlike(204), cause: cause{body: 204},
			request: with(final, map[string]string{"repeated, none": "1S", "never, none": "1S", "read, empty": "1S"}),
		},
		{
			name: "success cut off", effect: true, response: sayHalf, cause: cause{step: "body"},
			request: with(doubt, map[string]string{"never": "1A", "never, none": "1U", "never, refusal": "1U"}),
		},
		{name: "success that cannot be read", effect: true, unread: true, response: sayGarbage, request: unread, cause: cause{body: -1}},
		{
			name: "success beyond the limit", effect: true, unread: true, response: sayTooMuch, request: unread,
			cause: cause{body: -1}, few: true,
		},
		{
			name: "success of a proxy", effect: true, unread: true, response: sayAsProxy("text/html; charset=utf-8"), request: proxy,
			cause: cause{body: -1}, few: true,
		},
		{
			name: "success of a proxy that names no type", effect: true, unread: true, response: sayAsProxy(""), request: proxy,
			cause: cause{body: -1}, few: true,
		},
		{
			name: "success that says error", effect: true, response: sayFailed, cause: cause{body: -1, code: prepaid.CodeServerError},
			request: map[string]string{"token": "3N", "read": "3N", "repeated": "3U", "keyed": "1U", "never": "1U"},
		},
	}
}

// rawCases are a call of Client.Do for each class that can be declared. They stand in the table of outcomes as one more
// operation each.
func rawCases() []tableCase {
	var cases []tableCase
	for _, raw := range []struct {
		method     string
		repeatable bool
		class      string
		body       any
	}{
		{method: "POST", class: "never", body: map[string]string{"request_id": "pay-1"}},
		{method: "GET", class: "never"},
		{method: "GET", repeatable: true, class: "read"},
		{method: "PUT", repeatable: true, class: "repeated", body: map[string]string{"state": "blocked"}},
	} {
		request := prepaid.RawRequest{
			Method: raw.method, Path: "/accounts/{id}/" + raw.class, PathValues: map[string]string{"id": "acc-1"},
			Body: raw.body, Repeatable: raw.repeatable,
		}
		o := &reference.Operation{Method: raw.method, Path: request.Path, Name: raw.method + " " + request.Path, Body: "refusal", Safety: raw.class}
		f := &contract.Fixture{Operation: o.Name, Outcome: "200"}
		f.Response.Status, f.Response.Body = http.StatusOK, json.RawMessage(`{"id":"acc-1"}`)
		f.Response.Header = map[string]string{"Content-Type": harness.VendorJSON}
		call := func(ctx context.Context, client *prepaid.Client) error {
			var out struct {
				ID string `json:"id"`
			}
			return client.Do(ctx, request, &out)
		}
		cases = append(cases, tableCase{o, o.Safety, call, f})
	}
	return cases
}

// isRaw reports a call of Client.Do, for which any success is one.
func (c *tableCase) isRaw() bool { return strings.HasPrefix(c.operation.Name, c.operation.Method) }
