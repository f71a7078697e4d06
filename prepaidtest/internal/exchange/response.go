package exchange

import (
	"bytes"
	"io"
	"net"
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
	RetryAfter  int                   // seconds; no header when 0
	At          time.Time             // Date header, on the server's clock
	Stream      func(io.Writer) error // if set, writes the body
	pool        *buffers              // takes the written body back; nil if the body is not from a pool
}

// Release gives the buffer of a response back to the pool.
func (a Response) Release() {
	if a.pool != nil {
		a.pool.put(a.Body)
	}
}

// Pooled reports whether the body is a page that Paged made.
func (a Response) Pooled() bool { return a.pool != nil }

func (a Response) header(h http.Header) {
	h.Set("Date", a.At.UTC().Format(http.TimeFormat))
	switch {
	case a.ContentType != "":
		h.Set("Content-Type", a.ContentType)
	case len(a.Body) > 0 || a.Stream != nil:
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
	if a.Stream == nil && (a.Status != http.StatusNoContent || len(a.Body) > 0) {
		h.Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	return h
}

// Write sends a whole response. After a 204 with a body, door takes the connection back; without a door, Write closes it.
func (a Response) Write(w http.ResponseWriter, r *http.Request, door *Door) {
	if a.Status == http.StatusNoContent && len(a.Body) > 0 {
		a.writeRaw(w, r, door)
		return
	}
	a.header(w.Header())
	if a.Status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.Body)))
	}
	w.WriteHeader(a.Status)
	_, _ = w.Write(a.Body) // fails if the caller has disconnected
}

// writeRaw sends a 204 with a body, which net/http refuses to write. It leaves the connection open, as the
// service would: the caller's HTTP library must handle the surplus bytes.
func (a Response) writeRaw(w http.ResponseWriter, r *http.Request, door *Door) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil { // the server that mounts the emulator does not let handlers take over connections
		bare := a
		bare.Body = nil
		bare.Write(w, r, door)
		return
	}
	_, err = connection.Write(append(a.RawHead(len(a.Body), r.Close), a.Body...))
	if err != nil || r.Close || door == nil {
		_ = connection.Close()
		return
	}
	_ = connection.SetDeadline(time.Time{})
	if n := buffered.Reader.Buffered(); n > 0 {
		ahead, _ := buffered.Reader.Peek(n)
		connection = &resumed{Conn: connection, ahead: bytes.NewReader(bytes.Clone(ahead))}
	}
	door.resume(connection)
}

// RawHead is the text sent before the body.
func (a Response) RawHead(length int, closing bool) []byte {
	head := http.Header{}
	head.Set("Content-Length", strconv.Itoa(length))
	if closing {
		head.Set("Connection", "close")
	}
	a.header(head)
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 " + strconv.Itoa(a.Status) + " " + http.StatusText(a.Status) + "\r\n")
	_ = head.Write(&text)
	text.WriteString("\r\n")
	return text.Bytes()
}

// resumed is a connection whose next bytes were already read.
type resumed struct {
	net.Conn
	ahead *bytes.Reader
}

// Read serves the bytes read ahead first.
func (c *resumed) Read(p []byte) (int, error) {
	if c.ahead.Len() > 0 {
		return c.ahead.Read(p)
	}
	return c.Conn.Read(p)
}

// WholeSeconds rounds up to whole seconds, the unit of Retry-After.
func WholeSeconds(d time.Duration) int { return int((d + time.Second - 1) / time.Second) }
