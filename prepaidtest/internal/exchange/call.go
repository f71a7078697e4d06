package exchange

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

const mediaOctets = "application/octet-stream"

// Form has choices that the reference leaves open about requests and responses.
type Form struct {
	MediaType string // of JSON bodies
	Lenient   bool   // limits and unknown names are not checked
	PageSizes wire.PageSizes
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

	TooLarge bool // body exceeds MaxBody
	Replayed bool // response is the cached one of an earlier request

	checked []byte // canonical form of the body
	query   url.Values
}

// JSON responds with a value as JSON.
func (c *Call) JSON(status int, value any) Response {
	return c.Encoded(status, wire.AppendJSON(nil, value))
}

// Encoded responds with a JSON text.
func (c *Call) Encoded(status int, text []byte) Response {
	return Response{Status: status, ContentType: c.Form.MediaType, Body: text}
}

// Octets responds with a string without quotes.
func (c *Call) Octets(text string) Response {
	return Response{Status: http.StatusOK, ContentType: mediaOctets, Body: []byte(text)}
}

// Refuse responds with the error body of section 7.
func (c *Call) Refuse(status int, code, description string) Response {
	problem := Problem{Code: code, Description: description}
	body, _ := json.Marshal(problem) // two strings always marshal
	return Response{Status: status, ContentType: c.Form.MediaType, Body: body, Problem: problem}
}

// Unusable refuses input with the status and a code that the operation has for bad input.
func (c *Call) Unusable(description string) Response {
	return c.Invalid("", description)
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

// Paged responds with one page of items, or with 204 if there are no items. The function write appends an item in its wire form.
func Paged[T any](c *Call, items []T, write func(to []byte, item T) []byte) Response {
	from, to, info, ok := c.Form.PageSizes.Page(c.query.Get("page_number"), c.query.Get("page_size"), len(items))
	if !ok {
		return c.Unusable("invalid fields: page_number is beyond X-TotalPages")
	}
	if from == to {
		return Response{Status: http.StatusNoContent, Page: info}
	}
	text := []byte{'['}
	for i, item := range items[from:to] {
		if i > 0 {
			text = append(text, ',')
		}
		text = write(text, item)
	}
	response := c.Encoded(http.StatusOK, append(text, ']'))
	response.Page = info
	return response
}
