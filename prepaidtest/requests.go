package prepaidtest

import (
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest/internal/exchange"
	"github.com/cardprograms/prepaid/prepaidtest/internal/faults"
	"github.com/cardprograms/prepaid/prepaidtest/internal/requestlog"
)

// Request is one request as the server saw it, for a test to inspect. If you print it, the text is one line without
// query and body, so that a failure message shows no personal data.
type Request struct {
	// Number counts the requests from 1, in the order in which they were handled.
	Number int64
	// Arrival is Arrival.Number of the value that the function of Decide got; 0 if Decide has set no function.
	Arrival int64
	// Time is the server's clock on arrival.
	Time time.Time
	// Duration is the wall time from arrival until the response was ready.
	Duration time.Duration
	// Method is the HTTP method.
	Method string
	// Template is the path template of the reference, for example "/accounts/{id}/transfer"; empty for an
	// unknown path.
	Template string
	// Path is the path as it arrived, percent-encoded, without the query.
	Path string
	// AccountID is the EAID in the path or in the body, even if there is no such account; empty without an EAID.
	AccountID prepaid.AccountID
	// AccountStatus is the status of that account before the request; empty if there was no such account.
	AccountStatus string
	// AccountBalance is that account's balance before the request, in decimals; empty if there was no such account.
	AccountBalance string
	// Amount is the amount in the body, as written; an octal or hexadecimal load is decimal. Empty without one.
	Amount string
	// RequestID is request_id of the body, cut at 100 characters; empty without one.
	RequestID prepaid.RequestID
	// RepeatOf is the Number of the first request in the log with the same operation and RequestID; 0 for that request
	// itself, and without a RequestID.
	RepeatOf int64
	// Replayed reports whether the response is the cached one of an earlier request with this RequestID: nothing
	// was carried out.
	Replayed bool
	// Query holds the query parameters; nil when there are none. Values of unknown parameters are masked.
	Query url.Values
	// Header holds the headers. Values are masked, except Content-Type, Content-Length, Accept, Accept-Encoding,
	// User-Agent, Host, Traceparent and the scheme of Authorization.
	Header http.Header
	// Body is the request body, cut at 16 KiB. Members that are secret by the reference, or that it does not list, are masked at
	// any depth. With Lenient an unlisted member is shown unless its name is that of a secret. A body that is neither a JSON object of the operation nor a valid form of a token request is masked as a whole.
	Body string
	// Client is the caller's address without the port.
	Client string
	// Status is the HTTP status of the response, or 0 if a fault cut the connection before the response.
	Status int
	// ErrorCode is the code in the server's error body, also for a report that is still being processed. It is empty
	// after a success, and if a fault replaced the response with other bytes.
	ErrorCode string
	// ErrorDescription belongs to ErrorCode and never has a value of the request.
	ErrorDescription string
	// ResponseHeader holds the headers of the response as the server made it.
	ResponseHeader http.Header
	// ResponseBody is the body of the response as the server made it, even if a fault kept it from the caller. Secrets
	// are masked, and the text is cut at 16 KiB. It is empty for reports.
	ResponseBody string
	// Fault reports whether an armed fault was used on this request.
	Fault bool
	// FaultForm is the armed fault in the form that ParseFault reads, but without the number of uses. The body of a
	// RespondBody is ResponseBody. FaultForm is empty without a fault.
	FaultForm string
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

// logMemory limits the memory of the log of requests.
const logMemory = 64 << 20

// Requests returns the handled requests that the log still has (see RequestLog), in the order in which they ended. A
// request that a fault such as Delay holds is not in the log yet. When such a request arrives, FaultsLeft decreases.
func (s *Server) Requests() []Request {
	list := s.requests.All()
	first := make(map[[3]string]int64)
	for i, r := range list {
		if r.RequestID == "" {
			continue
		}
		key := [3]string{r.Method, r.Template, string(r.RequestID)}
		if earlier, known := first[key]; known {
			list[i].RepeatOf = earlier
		} else {
			first[key] = r.Number
		}
	}
	return list
}

// weight estimates the memory of a request in the log.
func (r Request) weight() int {
	weight := 1024 + len(r.Path) + len(r.Body) + len(r.ResponseBody) + len(r.FaultForm)
	for _, values := range []map[string][]string{r.Query, r.Header, r.ResponseHeader} {
		for name, list := range values {
			weight += len(name) + 64
			for _, value := range list {
				weight += len(value)
			}
		}
	}
	return weight
}

// arrived begins a request's entry: its subject and the account's state.
func (s *Server) arrived(c *exchange.Call) Request {
	if s.settings.service.Hooks.LogSize == 0 {
		return Request{}
	}
	about := requestlog.SubjectOf(c)
	entry := Request{AccountID: prepaid.AccountID(about.Account), Amount: about.Amount, RequestID: prepaid.RequestID(about.RequestID)}
	if about.Account == "" {
		return entry
	}
	l := s.service.Ledger.RLock()
	defer l.RUnlock()
	if a := l.Account(about.Account); a != nil {
		entry.AccountStatus, entry.AccountBalance = a.Status, a.Balance.String()
	}
	return entry
}

func (s *Server) record(entry *Request, c *exchange.Call, response exchange.Response, fault *faults.Fault, took time.Duration) {
	entry.Time, entry.Method, entry.Path, entry.Duration = c.At, c.Request.Method, c.Request.URL.EscapedPath(), took
	entry.Client, entry.Status, entry.Fault, entry.Replayed = clientAddress(c.Request), response.Status, fault != nil, c.Replayed
	entry.ErrorCode, entry.ErrorDescription = response.Problem.Code, response.Problem.Description
	if c.Route != nil {
		entry.Template = c.Route.Path
	}
	if fault.Drops() {
		entry.Status = 0
	}
	if s.settings.service.Hooks.LogSize > 0 {
		entry.Number = s.logged.Add(1)
		entry.Header = requestlog.Header(c.Request.Header)
		if c.Request.URL.RawQuery != "" {
			entry.Query = requestlog.Query(c.Route, c.Request.URL.Query())
		}
		entry.Body = requestlog.Body(c.Route, c.Body, c.Form.Lenient)
		entry.ResponseHeader, entry.ResponseBody = response.Headers(), requestlog.Response(c, response)
		if fault != nil {
			entry.FaultForm = fault.Form(entry.ResponseBody)
		}
		s.requests.Add(*entry)
	}
	if s.settings.Logger != nil {
		s.settings.Logger.Info("request", slog.String("method", entry.Method), slog.String("template", entry.Template),
			slog.Int("status", entry.Status), slog.String("code", entry.ErrorCode), slog.Bool("fault", entry.Fault), slog.Duration("duration", took))
	}
}
