package prepaidtest

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// Request is one request as the server saw it, for a test to look at. Printing one gives a line without query
// and body, so that a failure message shows no personal data.
type Request struct {
	// Number counts the requests from 1, in the order in which they were handled.
	Number int64
	// Time is the server's clock on arrival.
	Time time.Time
	// Method is the HTTP method.
	Method string
	// Template is the path template of the reference, for example "/accounts/{id}/transfer"; empty for a path
	// that is none of the service's.
	Template string
	// Path is the path as it arrived, percent-encoded, without the query.
	Path string
	// Query holds the query parameters; nil when there are none. The values of those that the operation does not
	// know are masked.
	Query url.Values
	// Header holds the headers. Values are masked, but for Content-Type, Content-Length, Accept, Accept-Encoding,
	// User-Agent, Host, Traceparent and the scheme of Authorization.
	Header http.Header
	// Body is the request body, cut at 16 KiB. Members that hold secrets by the reference or by their name are masked
	// at any depth, and the whole of a body that is neither a JSON object nor the right form of a token request.
	Body string
	// Client is the caller's address without the port.
	Client string
	// Status is the HTTP status of the response, or 0 when a fault cut the connection before any.
	Status int
	// ErrorCode is the code of an error that the server made, and of a report still being processed; empty on
	// success, and when a fault replaced the response with other bytes.
	ErrorCode string
	// ErrorDescription belongs to ErrorCode and never holds a value of the request.
	ErrorDescription string
	// ResponseBody is the body of the response as the server made it, even when a fault kept it from the caller. Secrets
	// are masked, and it is cut at 4 KiB. Empty for reports, which are not kept in memory.
	ResponseBody string
	// Fault reports whether an armed fault was used on this request.
	Fault bool
}

// Format prints one line with every verb: time, method, path, status, error code and description.
func (r Request) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "%s %s %s %d", r.Time.Format(time.RFC3339Nano), r.Method, r.Path, r.Status)
	if r.ErrorCode != "" {
		_, _ = fmt.Fprint(f, " ", r.ErrorCode)
	}
	if r.ErrorDescription != "" {
		_, _ = fmt.Fprint(f, ": ", r.ErrorDescription)
	}
	if r.Fault {
		_, _ = fmt.Fprint(f, " (fault)")
	}
}

// Requests returns the requests that arrived, oldest first, as far as the log reaches back (see RequestLog).
func (s *Server) Requests() []Request { return s.requests.All() }

func (s *Server) record(c *exchange.Call, response exchange.Response, fault *faults.Fault, took time.Duration) {
	entry := Request{
		Time: c.At, Method: c.Request.Method, Path: c.Request.URL.EscapedPath(),
		Client: clientAddress(c.Request), Status: response.Status, Fault: fault != nil,
		ErrorCode: response.Problem.Code, ErrorDescription: response.Problem.Description,
	}
	if c.Route != nil {
		entry.Template = c.Route.Template
	}
	if fault.Drops() {
		entry.Status = 0
	}
	if s.settings.requestLog > 0 {
		entry.Number = s.logged.Add(1)
		entry.Header = requestlog.Header(c.Request.Header)
		if c.Request.URL.RawQuery != "" {
			entry.Query = requestlog.Query(c.Route, c.Request.URL.Query())
		}
		entry.Body = requestlog.Body(c.Body, c.Readable)
		entry.ResponseBody = requestlog.Response(c, response)
		s.requests.Add(entry)
	}
	if s.settings.logger != nil {
		s.settings.logger.Info("request", slog.String("method", entry.Method), slog.String("template", entry.Template),
			slog.Int("status", entry.Status), slog.String("code", entry.ErrorCode), slog.Bool("fault", entry.Fault), slog.Duration("duration", took))
	}
}
