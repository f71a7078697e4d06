package prepaidvcr

import (
	"net/url"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// bodyKind is how a body is read.
type bodyKind uint8

const (
	bodyJSON bodyKind = iota
	bodyText          // a string, quoted or not
	bodyForm          // a form
)

// operation is the schema of one operation.
type operation struct {
	name     string
	method   string
	path     string
	query    map[string]*shape
	sends    bodyKind
	request  *shape
	responds bodyKind
	response *shape
}

// schema is the known wire format.
type schema struct {
	operations []operation
	failure    *shape
	named      named
}

// pathValues are the kept path parameters: names of wallets.
func pathValues() map[string]*shape { return map[string]*shape{"{provider}": {keep: isProvider}} }

func newSchema() *schema {
	made := &schema{failure: errorShape()}
	for _, o := range reference.Emulator().Operations {
		op := operation{name: o.Name, method: o.Method, path: o.Path, query: map[string]*shape{}, request: shapeOf("", o.Request.JSON(), false)}
		for _, p := range o.Query() {
			op.query[p.Name] = shapeOf(p.Name, p.Schema, p.Redact != "")
		}
		switch o.Body {
		case "text", "data":
			op.responds = bodyText
		default:
			op.response = shapeOf("", o.Response(), false)
		}
		if o.Request != nil && o.Request.JSON() == nil {
			op.sends = bodyForm
		}
		made.operations = append(made.operations, op)
	}
	return made
}

// apiRoot is the end of every base address.
const apiRoot = "/3.0"

// find returns the operation of a request and the segments of its path below the base address, unescaped. The
// operation is nil if no operation fits.
func (s *schema) find(method string, address *url.URL) (*operation, []string) {
	path := address.EscapedPath()
	for rest := path; ; { // a gateway's path may contain apiRoot too: use the last one that an operation follows
		end := strings.LastIndex(rest, apiRoot+"/")
		if end < 0 {
			break
		}
		segments := segmentsOf(path[end+len(apiRoot)+1:])
		if found := s.fitting(method, segments); found != nil {
			return found, segments
		}
		rest = rest[:end+1]
	}
	_, below, ok := strings.Cut(path, apiRoot+"/")
	if !ok {
		below = strings.TrimPrefix(path, "/")
	}
	segments := segmentsOf(below)
	return s.fitting(method, segments), segments
}

func segmentsOf(path string) []string {
	segments := strings.Split(path, "/")
	for i, segment := range segments {
		if plain, err := url.PathUnescape(segment); err == nil {
			segments[i] = plain
		}
	}
	return segments
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
