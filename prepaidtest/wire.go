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
)

const mediaOctets = "application/octet-stream"

// stamp is a date-time in the reference's form.
type stamp time.Time

// MarshalJSON writes whole seconds in UTC.
func (s stamp) MarshalJSON() ([]byte, error) {
	return []byte(`"` + s.String() + `"`), nil
}

// IsZero serves omitzero.
func (s stamp) IsZero() bool { return time.Time(s).IsZero() }

// String prints the wire form.
func (s stamp) String() string { return time.Time(s).UTC().Format(timeLayout) }

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
	page        *pageInfo
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
	return c.encoded(status, appendJSON(nil, value))
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
func (c *call) bindBody(bind func(*binder)) *reply {
	var faults faultList
	if refusal := c.bindBodyInto(&faults, bind); refusal != nil {
		return refusal
	}
	if len(faults.found) > 0 {
		return new(c.unusable(faults.describe()))
	}
	return nil
}

// bindBodyInto leaves faults of single members to the caller, for operations that have a code for each.
func (c *call) bindBodyInto(faults *faultList, bind func(*binder)) *reply {
	settings := &c.server.settings
	if !settings.lenient && !c.hasMediaType(c.server.mediaType()) {
		return new(c.unusable("Content-Type must be " + c.server.mediaType()))
	}
	members, err := parseObject(quoteLoadAmount(c.body))
	if err != nil {
		return new(c.unusable("the body " + err.Error()))
	}
	c.readable = true
	b := &binder{members: members, faults: faults, lenient: settings.lenient, now: c.at}
	bind(b)
	b.finish()
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

func (c *call) bindQuery(bind func(*query)) *reply {
	values, err := url.ParseQuery(c.request.URL.RawQuery)
	if err != nil {
		return new(c.unusable("the query cannot be read"))
	}
	q := &query{values: values, faults: new(faultList), lenient: c.server.settings.lenient}
	bind(q)
	q.finish()
	if len(q.faults.found) > 0 {
		return new(c.unusable(q.faults.describe()))
	}
	return nil
}

// quoteLoadAmount puts quotes around an initial_load_amount in octal or hexadecimal, which JSON itself does not
// allow and the reference does. A name has no escaped quote before it and a colon behind it; a value that reads
// the same has not both.
func quoteLoadAmount(body []byte) []byte {
	const name = `"initial_load_amount"`
	for from := 0; ; {
		at := bytes.Index(body[from:], []byte(name))
		if at < 0 {
			return body
		}
		at, from = from+at, from+at+len(name)
		rest, isName := bytes.CutPrefix(bytes.TrimLeft(body[from:], jsonSpace), []byte(":"))
		if isName && (at == 0 || body[at-1] != '\\') {
			rest = bytes.TrimLeft(rest, jsonSpace)
			return quoteNumber(body, len(body)-len(rest))
		}
	}
}

// jsonSpace is what JSON allows between its parts.
const jsonSpace = " \t\r\n"

// quoteNumber quotes the number that begins at from when it has a leading zero, a prefix included.
func quoteNumber(body []byte, from int) []byte {
	rest := body[from:]
	length := bytes.IndexAny(rest, ",}"+jsonSpace)
	if length < 2 || rest[0] != '0' || rest[1] == '.' || rest[1] == 'e' || rest[1] == 'E' {
		return body
	}
	quoted := append([]byte(nil), body[:from]...)
	quoted = append(quoted, '"')
	quoted = append(quoted, rest[:length]...)
	quoted = append(quoted, '"')
	return append(quoted, rest[length:]...)
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
		a.page.header(h)
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
