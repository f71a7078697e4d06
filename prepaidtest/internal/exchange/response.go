package exchange

import (
	"bytes"
	"net/http"
	"strconv"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Problem is the shape of every error (section 7).
type Problem struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitzero"`
}

// Response is the response before it is written, so that a fault can still change it.
type Response struct {
	Status      int
	ContentType string // no header when empty
	Body        []byte
	Problem     Problem // error in body, if the server made it
	Page        *wire.PageInfo
	RetryAfter  int       // seconds; no header when 0
	At          time.Time // Date header, on the server's clock
	Partial     bool      // the connection is cut after the body, which is not all
}

func (a Response) header(h http.Header) {
	h.Set("Date", a.At.UTC().Format(http.TimeFormat))
	switch {
	case a.ContentType != "":
		h.Set("Content-Type", a.ContentType)
	case len(a.Body) > 0:
		h["Content-Type"] = nil // keeps net/http from guessing
	}
	if a.Page != nil {
		a.Page.Header(h)
	}
	if a.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.RetryAfter))
	}
}

// Headers returns the headers that the caller gets, without those of the connection. Names are in the form of net/http.
func (a Response) Headers() http.Header {
	h := make(http.Header, 8)
	a.header(h)
	if h["Content-Type"] == nil { // nil kept net/http from guessing
		delete(h, "Content-Type")
	}
	if a.Page != nil {
		for name, values := range h {
			if usual := http.CanonicalHeaderKey(name); usual != name {
				delete(h, name)
				h[usual] = values
			}
		}
	}
	if a.Status != http.StatusNoContent || len(a.Body) > 0 {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	return h
}

// Write sends the response. net/http refuses to write a 204 with a body: such a response bypasses net/http, and the connection is closed
// after the surplus bytes, which the caller's HTTP library must handle.
func (a Response) Write(w http.ResponseWriter) {
	switch {
	case a.Partial:
		Cut(w, append(a.RawHead(len(a.Body)+1), a.Body...))
		return
	case a.Status == http.StatusNoContent && len(a.Body) > 0:
		Cut(w, append(a.RawHead(len(a.Body)), a.Body...))
		return
	}
	a.header(w.Header())
	if a.Status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // fails if the caller has disconnected
}

// RawHead is the text sent before the body.
func (a Response) RawHead(length int) []byte {
	head := http.Header{}
	head.Set("Content-Length", strconv.Itoa(length))
	a.header(head)
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status) + "\r\n")
	_ = head.Write(&text)
	text.WriteString("\r\n")
	return text.Bytes()
}

// Cut writes some bytes to the connection and closes it.
func Cut(w http.ResponseWriter, some []byte) {
	connection, _, err := http.NewResponseController(w).Hijack()
	if err != nil {
		panic(http.ErrAbortHandler) // makes net/http cut a connection that cannot be taken over
	}
	_, _ = connection.Write(some)
	_ = connection.Close()
}

// WholeSeconds rounds up to whole seconds, the unit of Retry-After.
func WholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
