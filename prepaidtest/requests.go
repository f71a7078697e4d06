package prepaidtest

import (
	"bytes"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"slices"
	"time"
)

// masked stands for a secret in the log.
const masked = "[REDACTED]"

// maxLoggedBody bounds what is kept of a request body.
const maxLoggedBody = 16 << 10

// Request is one request as the server saw it, for a test to look at. Printing one gives a line without query
// and body, so that a failure message shows no personal data.
type Request struct {
	// Number counts the requests from 1, in the order in which they were answered.
	Number int64
	// Time is the server's clock on arrival.
	Time time.Time
	// Method is the HTTP method.
	Method string
	// Template is the path template of the reference, for example "/accounts/{id}/transfer"; empty for a path
	// that is none of the service's.
	Template string
	// Path is the path as it came, percent-encoded, without the query.
	Path string
	// Query holds the query parameters; nil when there are none.
	Query url.Values
	// Header holds the headers, with Authorization masked but for its scheme.
	Header http.Header
	// Body is the request body with the members that hold secrets masked, cut at 16 KiB.
	Body string
	// Client is the caller's address without the port.
	Client string
	// Status is the HTTP status answered, or 0 when a fault cut the connection before any answer.
	Status int
	// ErrorCode is the code of an error that the server made, and of a report still being processed; empty on
	// success, and when a fault made the answer of other bytes.
	ErrorCode string
	// ErrorDescription goes with ErrorCode and never holds a value of the request.
	ErrorDescription string
	// Answer is the body of the answer as the server made it, even when a fault kept it from the caller. Secrets
	// are masked, and it is cut at 4 KiB. Empty for reports, which are not kept in memory.
	Answer string
	// Fault tells whether an armed fault was used on this request.
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
func (s *Server) Requests() []Request { return s.requests.all() }

func (s *Server) record(c *call, answer reply, fault *Fault, took time.Duration) {
	entry := Request{
		Time: c.at, Method: c.request.Method, Path: c.request.URL.EscapedPath(),
		Header: c.request.Header.Clone(), Client: clientAddress(c.request), Status: answer.status, Fault: fault != nil,
		ErrorCode: answer.problem.Code, ErrorDescription: answer.problem.Description,
	}
	if c.request.URL.RawQuery != "" {
		entry.Query = c.request.URL.Query()
	}
	if c.route != nil {
		entry.Template = c.route.template
	}
	if fault.drops() {
		entry.Status = 0
	}
	if authorisation := entry.Header.Get("Authorization"); authorisation != "" {
		entry.Header.Set("Authorization", maskAuthorization(authorisation))
	}
	if s.settings.requestLog > 0 {
		entry.Number = s.answered.Add(1)
		entry.Body = maskBody(c.body)
		entry.Answer = maskAnswer(c, answer)
		s.requests.add(entry)
	}
	if s.settings.logger != nil {
		s.settings.logger.Info("request", slog.String("method", entry.Method), slog.String("template", entry.Template),
			slog.Int("status", entry.Status), slog.String("code", entry.ErrorCode), slog.Bool("fault", entry.Fault), slog.Duration("took", took))
	}
}

func maskAuthorization(value string) string {
	for _, scheme := range []string{"Basic", "Bearer"} {
		if len(value) > len(scheme) && value[:len(scheme)+1] == scheme+" " {
			return scheme + " " + masked
		}
	}
	return masked
}

// secretMembers are the members of any request that hold a secret.
func secretMembers() []string {
	return []string{
		"hmac_key_secret", "ephemeral_key", "encrypted_data", "encrypted_key", "iv", "nonce", "nonce_signature", "certificates",
		"pin", "otp", "client_secret", // none of the reference's requests; a wrong caller may send them openly
	}
}

// tokenForm is the body of a token request as it should be.
const tokenForm = "grant_type=client_credentials"

func maskBody(body []byte) string {
	if len(body) == 0 {
		return ""
	}
	names := secretMembers()
	if !bytes.ContainsRune(body, '\\') && !slices.ContainsFunc(names, func(name string) bool { return bytes.Contains(body, []byte(name)) }) {
		return string(body[:min(len(body), maxLoggedBody)]) // nothing to look for, not even a name in escapes
	}
	text := body
	members, err := parseObject(quoteLoadAmount(body))
	if err != nil {
		if body[0] == '{' || bytes.Contains(body, []byte("=")) && string(body) != tokenForm {
			return masked // cannot be read, so it cannot be masked in parts; a form may hold credentials
		}
	} else {
		if hide(members, names) {
			if text, err = json.Marshal(members); err != nil {
				return masked
			}
		}
	}
	return string(text[:min(len(text), maxLoggedBody)])
}

// hide masks members and tells whether there were any.
func hide(members map[string]json.RawMessage, names []string) bool {
	hidden := false
	for _, name := range names {
		if _, present := members[name]; present {
			members[name], hidden = json.RawMessage(`"`+masked+`"`), true
		}
	}
	return hidden
}
