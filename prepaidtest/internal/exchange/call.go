package exchange

import (
	"encoding/json"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const mediaOctets = "application/octet-stream"

// Form has choices that the reference leaves open about requests and responses.
type Form struct {
	MediaType     string // of JSON bodies
	Lenient       bool   // limits and unknown names are not checked
	QuotedStrings bool   // octet streams are JSON strings
	PageSizes     wire.PageSizes
	buffers       buffers
}

// Call is one request on its way through the server.
type Call struct {
	Form    *Form
	Request *http.Request
	Route   *Route
	Params  []string // values of the template's parameters, in order
	Body    []byte
	At      time.Time // server's clock on arrival
	Cached  int64     // number of transfer responses cached before arrival

	Description *Description // if not nil, the operation only describes its input here

	Readable bool // body was read as a JSON object
	Late     bool // body did not arrive in time
	Replayed bool // response is the cached one of an earlier request
}

// Description is the input of an operation: members of the body and parameters of the query; nil if absent.
type Description struct{ Body, Query *wire.Schema }

// JSON responds with a value as JSON.
func (c *Call) JSON(status int, value any) Response {
	return c.Encoded(status, wire.AppendJSON(nil, value))
}

// Encoded responds with a JSON text.
func (c *Call) Encoded(status int, text []byte) Response {
	return Response{Status: status, ContentType: c.Form.MediaType, Body: text}
}

// Octets responds with a bare string, or a quoted string with QuotedStrings.
func (c *Call) Octets(text string) Response {
	if c.Form.QuotedStrings {
		text = strconv.Quote(text)
	}
	return Response{Status: http.StatusOK, ContentType: mediaOctets, Body: []byte(text)}
}

// Refuse responds with the error body of section 7.
func (c *Call) Refuse(status int, code, description string) Response {
	problem := Problem{Code: code, Description: description}
	body, _ := json.Marshal(problem) // two strings always marshal
	return Response{Status: status, ContentType: c.Form.MediaType, Body: body, Problem: problem}
}

// Unusable refuses input with the status that the operation has for bad input.
func (c *Call) Unusable(description string) Response {
	return c.Refuse(c.Route.BadInput, "invalid_request", description)
}

// AccountNotFound refuses an unknown EAID.
func (c *Call) AccountNotFound() Response {
	return c.Refuse(http.StatusNotFound, "account_not_found", "the account does not exist")
}

// Bearer splits the Authorization header.
func (c *Call) Bearer() (scheme, token string) {
	scheme, token, _ = strings.Cut(c.Request.Header.Get("Authorization"), " ")
	return scheme, token
}

// Done responds with success and no body.
func Done(status int) Response { return Response{Status: status} }

// BindBody reads the JSON body. It returns a refusal, or nil if the body is valid.
func (c *Call) BindBody(bind func(*wire.Reader)) *Response {
	var faults wire.Faults
	if refusal := c.BindBodyInto(&faults, bind); refusal != nil {
		return refusal
	}
	if len(faults.Found) > 0 {
		return new(c.Unusable(faults.Describe()))
	}
	return nil
}

// BindBodyInto is BindBody for operations with an error code for each member: it adds invalid members to faults.
func (c *Call) BindBodyInto(faults *wire.Faults, bind func(*wire.Reader)) *Response {
	if c.Description != nil {
		c.Description.Body = wire.DescribeObject(bind)
		return new(Response)
	}
	if !c.Form.Lenient && !c.HasMediaType(c.Form.MediaType) {
		return new(c.Unusable("Content-Type must be " + c.Form.MediaType))
	}
	members, err := wire.ParseObject(wire.QuoteLoadAmount(c.Body))
	if err != nil {
		return new(c.Unusable("the body " + err.Error()))
	}
	c.Readable = true
	b := &wire.Reader{Members: members, Faults: faults, Lenient: c.Form.Lenient, Now: c.At}
	bind(b)
	b.Finish()
	return nil
}

// HasMediaType reports whether the media type is want, ignoring case. The only allowed parameter is charset=utf-8.
func (c *Call) HasMediaType(want string) bool {
	media, parameters, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type"))
	if err != nil || !strings.EqualFold(media, want) {
		return false
	}
	charset, has := parameters["charset"]
	return len(parameters) == 0 || (len(parameters) == 1 && has && strings.EqualFold(charset, "utf-8"))
}

// BindQuery reads the query. It returns a refusal, or nil if the query is valid.
func (c *Call) BindQuery(bind func(*wire.Query)) *Response {
	if c.Description != nil {
		c.Description.Query = wire.DescribeQuery(bind)
		return new(Response)
	}
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil {
		return new(c.Unusable("the query cannot be read"))
	}
	q := &wire.Query{Values: values, Faults: new(wire.Faults), Lenient: c.Form.Lenient}
	bind(q)
	q.Finish()
	if len(q.Faults.Found) > 0 {
		return new(c.Unusable(q.Faults.Describe()))
	}
	return nil
}

// Paged responds with one page of items, or with 204 if there are no items. The function write appends an item in its wire form.
func Paged[T any](c *Call, request wire.PageRequest, items []T, write func(to []byte, item T) []byte) Response {
	from, to, info, ok := c.Form.PageSizes.Page(request, len(items))
	if !ok {
		return c.Unusable("invalid fields: page_number is beyond X-TotalPages")
	}
	if from == to {
		return Response{Status: http.StatusNoContent, Page: info}
	}
	text := append(c.Form.buffers.get(), '[')
	for i, item := range items[from:to] {
		if i > 0 {
			text = append(text, ',')
		}
		text = write(text, item)
	}
	response := c.Encoded(http.StatusOK, append(text, ']'))
	response.Page, response.pool = info, &c.Form.buffers
	return response
}
