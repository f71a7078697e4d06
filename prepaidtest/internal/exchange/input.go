package exchange

import (
	"encoding/json"
	"mime"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/cardprograms/prepaid/prepaidtest/internal/check"
	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

// Body checks the JSON body by the document, and decodes it. Further checks can add faults. It returns a refusal, or nil.
func Body[T any](c *Call, further ...func(in *T, faults *wire.Faults)) (in T, refusal *Response) {
	checker := &check.Checker{Lenient: c.Form.Lenient, Now: c.At}
	if refusal := c.readBody(checker); refusal != nil {
		return in, refusal
	}
	if err := c.Decode(&in); err != nil {
		return in, new(c.Unusable("the body cannot be read")) // not reached: the checker has read it
	}
	for _, add := range further {
		add(&in, &checker.Faults)
	}
	if len(checker.Found) > 0 {
		return in, new(c.Invalid(checker.Found[0].Field, checker.Describe()))
	}
	return in, nil
}

// Decode decodes the checked body over the fields of a value.
func (c *Call) Decode(into any) error { return jsonv2.Unmarshal(c.checked, into) }

// Has reports whether the checked body has a member.
func (c *Call) Has(name string) bool {
	var members map[string]json.RawMessage
	_ = json.Unmarshal(c.checked, &members) // the checker wrote it
	return members[name] != nil
}

func (c *Call) readBody(checker *check.Checker) *Response {
	if !c.Form.Lenient && !c.HasMediaType(c.Form.MediaType) {
		return new(c.Unusable("Content-Type must be " + c.Form.MediaType))
	}
	checked, err := checker.Object(c.Route.Request.JSON(), wire.DecimalLoadAmount(c.Body))
	if err != nil {
		return new(c.Unusable("the body " + err.Error()))
	}
	c.checked = checked
	return nil
}

// Invalid refuses a field whose value breaks a rule that the document does not state.
func (c *Call) Invalid(field, description string) Response {
	return c.Refuse(c.Route.BadInput, c.Route.code(field), description)
}

// code returns the operation's error code for bad input in a member, such as invalid_scope for scope[0].
func (r *Route) code(field string) string {
	known := r.Codes(strconv.Itoa(r.BadInput))
	if len(known) == 0 {
		return "invalid_request"
	}
	field, _, _ = strings.Cut(field, "[")
	for _, code := range []string{"invalid_" + field, "bad_" + field, "invalid_request"} {
		if slices.Contains(known, code) {
			return code
		}
	}
	return known[0]
}

// HasMediaType reports whether the media type is want, ignoring case. It has no parameters in the reference.
func (c *Call) HasMediaType(want string) bool {
	media, parameters, err := mime.ParseMediaType(c.Request.Header.Get("Content-Type"))
	return err == nil && strings.EqualFold(media, want) && len(parameters) == 0
}

// ReadQuery checks the parameters of the query by the document. It returns a refusal, or nil.
func (c *Call) ReadQuery() *Response {
	parameters := c.Route.Query()
	values, err := url.ParseQuery(c.Request.URL.RawQuery)
	if err != nil && (!c.Form.Lenient || len(parameters) > 0) {
		return new(c.Unusable("the query cannot be read"))
	}
	checker := &check.Checker{Lenient: c.Form.Lenient, Now: c.At}
	checker.Query(parameters, values)
	c.query = make(url.Values, len(parameters))
	for _, p := range parameters {
		if given, ok := values[p.Name]; ok {
			c.query[p.Name] = given
		}
	}
	if len(checker.Found) > 0 {
		return new(c.Unusable(checker.Describe()))
	}
	return nil
}

// Parameter returns a parameter of the query; empty if absent.
func (c *Call) Parameter(name string) string { return c.query.Get(name) }

// Flags reports for each parameter of the query whether its value is not blank (section 1, optional field groups).
func (c *Call) Flags() map[string]bool {
	on := make(map[string]bool)
	for name := range c.query {
		on[name] = strings.TrimSpace(c.query.Get(name)) != ""
	}
	return on
}

// Time returns a date-time of the query; zero if absent.
func (c *Call) Time(name string) time.Time {
	at, _ := wire.ParseTime(c.query.Get(name), c.Form.Lenient) // ReadQuery has checked it
	return at
}
