package exchange

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// Prefix is part of every address (section 9).
const Prefix = "/3.0"

// Route is one operation of the reference.
type Route struct {
	Method, Template string
	segments         []string
	fixed            int // number of segments without a parameter
	Handle           func(*Call) Response
	BadInput         int      // status for unusable input: 400, or 404 if the table of routes sets it
	Open             bool     // whether it needs no bearer token
	Query            []string // names of its query parameters
	TestOnly         bool     // whether it belongs to the simulator
}

// Table is a table of operations.
type Table []*Route

// Prepare derives the other fields from the templates.
func (t Table) Prepare() {
	for _, r := range t {
		r.segments = strings.Split(r.Template[1:], "/")
		r.fixed = len(r.segments) - strings.Count(r.Template, "{")
		if r.BadInput == 0 {
			r.BadInput = http.StatusBadRequest
		}
	}
}

// Has reports whether an operation has that name.
func (t Table) Has(name string) bool {
	return slices.ContainsFunc(t, func(r *Route) bool { return r.Name() == name })
}

// Name is the method and the path template.
func (r *Route) Name() string { return r.Method + " " + r.Template }

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
