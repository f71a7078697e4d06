package prepaidtest

import (
	"bytes"
	"encoding/json"
	"io"
	"mime"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const mediaOctets = "application/octet-stream"

// errorBody is the shape of every error (section 7).
type errorBody struct {
	Code        string `json:"error"`
	Description string `json:"error_description,omitzero"`
}

// reply is an answer before it is written, so that a fault can still change what the caller gets to see.
type reply struct {
	status      int
	contentType string // none when empty
	body        []byte
	problem     errorBody // what body says, of an error that the server made
	page        *wire.PageInfo
	retryAfter  int                   // seconds; no header when 0
	at          time.Time             // of the Date header, on the server's clock
	stream      func(io.Writer) error // writes the body instead of body
	pooled      bool                  // body goes back to the pages when it is written
}

// call is one request on its way through the server.
type call struct {
	server  *Server
	request *http.Request
	route   *route
	params  []string // values of the template's parameters, in order
	body    []byte
	at      time.Time // server's clock on arrival
	cached  int64     // responses of transfers cached before arrival

	readable bool // body was read as a JSON object
	late     bool // body did not come in time
}

func (c *call) json(status int, value any) reply {
	return c.encoded(status, wire.AppendJSON(nil, value))
}

// encoded answers with a JSON text.
func (c *call) encoded(status int, text []byte) reply {
	return reply{status: status, contentType: c.server.mediaType(), body: text}
}

// octets answers with a bare string, or a quoted one when the server is set so.
func (c *call) octets(text string) reply {
	if c.server.settings.quotedStrings {
		text = strconv.Quote(text)
	}
	return reply{status: http.StatusOK, contentType: mediaOctets, body: []byte(text)}
}

func (c *call) refuse(status int, code, description string) reply {
	problem := errorBody{Code: code, Description: description}
	body, _ := json.Marshal(problem) // two strings always marshal
	return reply{status: status, contentType: c.server.mediaType(), body: body, problem: problem}
}

// unusable refuses input with the status that the operation's row allows.
func (c *call) unusable(description string) reply {
	return c.refuse(c.route.badInput, "invalid_request", description)
}

func (c *call) accountNotFound() reply {
	return c.refuse(http.StatusNotFound, "account_not_found", "the account does not exist")
}

// done is a success without a body.
func done(status int) reply { return reply{status: status} }

// bindBody reads the JSON body. It returns a refusal, or nil when all is well.
func (c *call) bindBody(bind func(*wire.Reader)) *reply {
	var faults wire.Faults
	if refusal := c.bindBodyInto(&faults, bind); refusal != nil {
		return refusal
	}
	if len(faults.Found) > 0 {
		return new(c.unusable(faults.Describe()))
	}
	return nil
}

// bindBodyInto leaves faults of single members to the caller, for operations that have a code for each.
func (c *call) bindBodyInto(faults *wire.Faults, bind func(*wire.Reader)) *reply {
	settings := &c.server.settings
	if !settings.lenient && !c.hasMediaType(c.server.mediaType()) {
		return new(c.unusable("Content-Type must be " + c.server.mediaType()))
	}
	members, err := wire.ParseObject(wire.QuoteLoadAmount(c.body))
	if err != nil {
		return new(c.unusable("the body " + err.Error()))
	}
	c.readable = true
	b := &wire.Reader{Members: members, Faults: faults, Lenient: settings.lenient, Now: c.at}
	bind(b)
	b.Finish()
	return nil
}

func (c *call) hasMediaType(want string) bool {
	media, parameters, err := mime.ParseMediaType(c.request.Header.Get("Content-Type"))
	if err != nil || media != want {
		return false
	}
	charset, has := parameters["charset"]
	return len(parameters) == 0 || (len(parameters) == 1 && has && strings.EqualFold(charset, "utf-8"))
}

func (c *call) bindQuery(bind func(*wire.Query)) *reply {
	values, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return new(c.unusable("the query cannot be read"))
	}
	q := &wire.Query{Values: values, Faults: new(wire.Faults), Lenient: c.server.settings.lenient}
	bind(q)
	q.Finish()
	if len(q.Faults.Found) > 0 {
		return new(c.unusable(q.Faults.Describe()))
	}
	return nil
}

func (a reply) header(h http.Header) {
	h.Set("Date", a.at.UTC().Format(http.TimeFormat))
	switch {
	case a.contentType != "":
		h.Set("Content-Type", a.contentType)
	case len(a.body) > 0 || a.stream != nil:
		h["Content-Type"] = nil // or net/http would guess one
	}
	if a.page != nil {
		a.page.Header(h)
	}
	if a.retryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(a.retryAfter))
	}
}

func (s *Server) write(w http.ResponseWriter, r *http.Request, a reply) {
	if a.status == http.StatusNoContent && len(a.body) > 0 {
		s.writeRaw(w, r, a)
		return
	}
	a.header(w.Header())
	if a.status != http.StatusNoContent {
		w.Header().Set("Content-Length", strconv.Itoa(len(a.body)))
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // the caller has gone away
}

// writeRaw sends a 204 with a body, which net/http refuses to write, and leaves the connection open as the
// service would: what the caller's HTTP library makes of the surplus bytes is its own affair.
func (s *Server) writeRaw(w http.ResponseWriter, r *http.Request, a reply) {
	connection, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil { // mounted where there is no connection to take over
		a.body = nil
		s.write(w, r, a)
		return
	}
	_, err = connection.Write(append(rawHead(a, len(a.body), r.Close), a.body...))
	if err != nil || r.Close || s.front == nil {
		_ = connection.Close()
		return
	}
	_ = connection.SetDeadline(time.Time{})
	if n := buffered.Reader.Buffered(); n > 0 {
		ahead, _ := buffered.Reader.Peek(n)
		connection = &resumed{Conn: connection, ahead: bytes.NewReader(bytes.Clone(ahead))}
	}
	s.front.resume(connection)
}

// rawHead is what goes over the wire before the body.
func rawHead(a reply, length int, closing bool) []byte {
	head := http.Header{}
	head.Set("Content-Length", strconv.Itoa(length))
	if closing {
		head.Set("Connection", "close")
	}
	a.header(head)
	var text bytes.Buffer
	text.WriteString("HTTP/1.1 " + strconv.Itoa(a.status) + " " + http.StatusText(a.status) + "\r\n")
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

// paged answers with one page of items, each appended in its wire form; with 204 when there are none at all.
func paged[T any](c *call, request wire.PageRequest, items []T, write func(to []byte, item T) []byte) reply {
	from, to, info, ok := c.server.settings.pageSizes.Page(request, len(items))
	if !ok {
		return c.unusable("invalid fields: page_number is beyond X-TotalPages")
	}
	if from == to {
		return reply{status: http.StatusNoContent, page: info}
	}
	text := append(c.server.pages.get(), '[')
	for i, item := range items[from:to] {
		if i > 0 {
			text = append(text, ',')
		}
		text = write(text, item)
	}
	answer := c.encoded(http.StatusOK, append(text, ']'))
	answer.page, answer.pooled = info, true
	return answer
}
