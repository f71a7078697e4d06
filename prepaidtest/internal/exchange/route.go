package exchange

import (
	"net/http"
	"net/url"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// Prefix is part of every address (section 9).
const Prefix = "/3.0"

// Route is one operation of the reference.
type Route struct {
	*reference.Operation
	Handle   func(*Call) Response
	BadInput int // status for unusable input
	segments []string
	fixed    int // number of segments without a parameter
}

// Table is a table of operations.
type Table []*Route

// NewTable makes the table of the document's operations from their handlers, by name.
func NewTable(handlers map[string]func(*Call) Response) Table {
	var table Table
	for _, o := range reference.Emulator().Operations {
		r := &Route{Operation: o, Handle: handlers[o.Name], BadInput: http.StatusBadRequest, segments: strings.Split(o.Path[1:], "/")}
		r.fixed = len(r.segments) - strings.Count(o.Path, "{")
		if _, listed := o.Results.Get("400"); !listed && o.Also["404"] == "input" {
			r.BadInput = http.StatusNotFound
		}
		table = append(table, r)
	}
	return table
}

// Has reports whether an operation has that name.
func (t Table) Has(name string) bool {
	return slices.ContainsFunc(t, func(r *Route) bool { return r.Title() == name })
}

// Title is the method and the path template.
func (r *Route) Title() string { return r.Method + " " + r.Path }

// Open reports whether it needs no bearer token.
func (r *Route) Open() bool { return r.Safety == "token" }

// TestOnly reports whether it belongs to the simulator.
func (r *Route) TestOnly() bool { return r.Tags[0] == "Simulation" }

// Find returns the route of a request with the values of its path parameters. In /accounts/company/{companyid} and
// similar paths, a fixed segment takes precedence over a parameter, whatever the order of the table. If only the method
// differs, found is nil and pathKnown is true.
func (t Table) Find(r *http.Request) (found *Route, params []string, pathKnown bool) {
	path, ok := strings.CutPrefix(r.URL.EscapedPath(), Prefix+"/")
	if !ok {
		return nil, nil, false
	}
	segments := strings.Split(path, "/")
	for _, candidate := range t {
		if !candidate.fits(segments) {
			continue
		}
		pathKnown = true
		if candidate.Method == r.Method && (found == nil || candidate.fixed > found.fixed) {
			found = candidate
		}
	}
	if found == nil {
		return nil, nil, pathKnown
	}
	params, ok = found.values(segments)
	if !ok {
		return nil, nil, false
	}
	return found, params, true
}

func (r *Route) fits(segments []string) bool {
	if len(segments) != len(r.segments) {
		return false
	}
	for i, want := range r.segments {
		if want[0] != '{' && want != segments[i] {
			return false
		}
	}
	return true
}

// values returns the path parameters. It returns false if one is empty or wrongly encoded.
func (r *Route) values(segments []string) ([]string, bool) {
	params := make([]string, 0, len(segments)-r.fixed)
	for i, want := range r.segments {
		if want[0] != '{' {
			continue
		}
		value, err := url.PathUnescape(segments[i])
		if err != nil || value == "" {
			return nil, false
		}
		params = append(params, value)
	}
	return params, true
}
