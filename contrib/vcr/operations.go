package prepaidvcr

import (
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// operation is the schema of one operation.
type operation struct {
	name     string
	method   string
	path     string
	form     bool // the request's body is a form
	query    map[string]*shape
	request  *shape
	response *shape
}

// tokenName is the operation that the client may request at any time.
const tokenName = "Token"

// schema is the known wire format, with the names that the program adds.
type schema struct {
	operations []operation
	scrubbed   map[string]bool // names whose values are never kept
	names      names
}

// names are those that the program adds to the schema.
type names struct {
	keep, scrub []string
	calls       []string // method and path
}

// Headers of a recorded request that list the names, so that a replay needs no settings.
const (
	keptNamesHeader     = "Kept-Names"
	scrubbedNamesHeader = "Scrubbed-Names"
	callHeader          = "Raw-Call"
	// columnsHeader and amountsHeader are headers of a report. Earlier versions listed its columns there.
	columnsHeader = "Report-Columns"
	amountsHeader = "Report-Amounts"
)

// read adds the names that a recorded exchange lists.
func (n *names) read(request, response map[string][]string) {
	n.keep = slices.Concat(n.keep, request[keptNamesHeader], response[amountsHeader])
	n.scrub = slices.Concat(n.scrub, request[scrubbedNamesHeader], response[columnsHeader])
	n.calls = append(n.calls, request[callHeader]...)
}

// write lists the names in the headers of a recorded request.
func (n names) write(header map[string][]string) {
	for name, values := range map[string][]string{keptNamesHeader: n.keep, scrubbedNamesHeader: n.scrub, callHeader: n.calls} {
		if len(values) > 0 {
			header[name] = values
		}
	}
}

func newSchema(n names) *schema {
	s := &schema{names: n, scrubbed: map[string]bool{}}
	for _, secret := range []string{"otp", "pin", "client_secret"} { // encrypted or in a header: the reference lists no such member
		s.scrubbed[secret] = true
	}
	for _, o := range reference.Emulator().Operations {
		op := operation{name: o.Name, method: o.Method, path: o.Path, query: map[string]*shape{}, request: s.shapeOf("", o.Request.JSON(), false)}
		for _, p := range o.Query() {
			op.query[p.Name] = s.shapeOf(p.Name, p.Schema, p.Redact != "")
		}
		if o.Body != "text" && o.Body != "data" {
			op.response = s.shapeOf("", o.Response(), false)
		}
		op.form = o.Request != nil && o.Request.JSON() == nil
		s.operations = append(s.operations, op)
	}
	for _, call := range n.calls {
		method, path, _ := strings.Cut(call, " ")
		s.operations = append(s.operations, operation{name: call, method: method, path: path})
	}
	return s
}

// find returns the operation of a request, and the segments of its path below the base address, unescaped; nil for an unknown operation.
func (s *schema) find(method string, address *url.URL) (*operation, []string) {
	segments := strings.Split(address.EscapedPath(), "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = plain
		}
	}
	for i := range segments { // no operation's path begins with a parameter
		if found := s.fitting(method, segments[i:]); found != nil {
			return found, segments[i:]
		}
	}
	return nil, nil
}

func (s *schema) fitting(method string, segments []string) *operation {
	var found *operation
	for i := range s.operations {
		op := &s.operations[i]
		// The template with fewer parameters takes precedence, such as /policy/mccodes or /accounts/company/{companyid}.
		if op.method == method && fits(op.path, segments) && (found == nil || strings.Count(op.path, "{") < strings.Count(found.path, "{")) {
			found = op
		}
	}
	return found
}

func fits(template string, segments []string) bool {
	parts := strings.Split(strings.TrimPrefix(template, "/"), "/")
	if len(parts) != len(segments) {
		return false
	}
	for i, part := range parts {
		if !strings.HasPrefix(part, "{") && part != segments[i] || segments[i] == "" {
			return false
		}
	}
	return true
}

const (
	accountKind = "account"
	companyKind = "company_id"
)

// labelOf returns the label of a member or parameter: the kind of its ID, otherwise its name. Other texts are no IDs: they may change with
// each run, and two texts made within a second may be equal in one run and different in the next.
func (o *operation) labelOf(name string) (label string, id bool) {
	switch {
	case name == "{companyid}", name == "{id}" && strings.HasPrefix(o.path, "/policy/"):
		return companyKind, true
	case name == "{id}" && strings.HasPrefix(o.path, "/accounts/"), strings.HasSuffix(name, "account_id"):
		return accountKind, true
	}
	isID := func(ending string) bool { return strings.HasSuffix(name, ending) }
	return name, slices.ContainsFunc([]string{"id", "ids", "id}", "_key", "account_number", "name}"}, isID)
}
