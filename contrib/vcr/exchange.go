package prepaidvcr

import (
	"bytes"
	"maps"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strings"
)

// serviceHost replaces the service's host. Its domain cannot be registered.
const serviceHost = "service.invalid"

// recordedVendor replaces the vendor name in media types.
const recordedVendor = "vendor"

// strangeVendor replaces a vendor name that the client did not request.
const strangeVendor = "another"

// scrubbedRequest is a request in the form for a cassette.
type scrubbedRequest struct {
	operation *operation // nil if unknown
	url       string
	body      string
	leaves    []leaf
	used      []string
	found     parts // criteria for a match
}

// name returns the name of the operation, for errors.
func (r *scrubbedRequest) name() string {
	if r.operation == nil {
		return "an unknown operation"
	}
	return r.operation.name
}

// request scrubs the request line and the body.
func (s *schema) request(names *pseudonyms, method string, address *url.URL, body []byte) *scrubbedRequest {
	operation, segments := s.find(method, address)
	work := scrubber{names: names, named: s.named}
	r := &scrubbedRequest{operation: operation}
	r.url = "https://" + serviceHost + apiRoot + work.path(operation, segments)
	if query := work.query(operation, address.RawQuery); query != "" {
		r.url += "?" + query
	}
	known, kind := scrubbed(), bodyJSON
	if operation != nil {
		kind = operation.sends
		if operation.request != nil {
			known = operation.request
		}
	}
	if kind == bodyForm {
		r.body = work.formBody(string(body))
	} else {
		r.body = work.body("body", body, known, kind)
	}
	r.leaves, r.used = work.leaves, work.used
	r.found = r.parts()
	return r
}

func (s *scrubber) path(operation *operation, segments []string) string {
	var parts []string
	kept := pathValues()
	if operation != nil {
		parts = strings.Split(strings.TrimPrefix(operation.path, "/"), "/")
	}
	var path strings.Builder
	for i, segment := range segments {
		switch {
		case parts == nil:
			segment = s.unnamed("path", segment)
		case strings.HasPrefix(parts[i], "{"):
			known := kept[parts[i]]
			if known == nil {
				known = scrubbed()
			}
			segment = s.text("path "+parts[i], segment, known)
		}
		path.WriteString("/" + url.PathEscape(segment))
	}
	return path.String()
}

func (s *scrubber) query(operation *operation, raw string) string {
	var known map[string]*shape
	if operation != nil {
		known = operation.query
	}
	return s.pairs("query", raw, known)
}

func (s *scrubber) formBody(body string) string {
	return s.pairs("body", body, map[string]*shape{"grant_type": {keep: isGrant}})
}

// pairs scrubs names and values of a query or a form, in the order of their names.
func (s *scrubber) pairs(where, raw string, known map[string]*shape) string {
	if raw == "" {
		return ""
	}
	values, err := url.ParseQuery(raw)
	if err != nil { // one unknown name replaces the whole text
		values = url.Values{raw: {""}}
	}
	var out []string
	for _, name := range sortedKeys(values) {
		shape, shown, place := s.shapeOf(known, name), name, where+" "+name
		if shape == nil {
			place = where + " " + unknownName
			shape, shown = scrubbed(), s.unnamed(place, name)
		}
		for _, value := range values[name] {
			out = append(out, url.QueryEscape(shown)+"="+url.QueryEscape(s.text(place, value, shape)))
		}
	}
	return strings.Join(out, "&")
}

func sortedKeys[V any](values map[string]V) []string { return slices.Sorted(maps.Keys(values)) }

// body scrubs a body. One pseudonym replaces a body that is not JSON.
func (s *scrubber) body(where string, body []byte, known *shape, kind bodyKind) string {
	trimmed := bytes.TrimSpace(body)
	if len(trimmed) == 0 {
		return ""
	}
	if kind == bodyJSON || trimmed[0] == '"' || trimmed[0] == '{' {
		if text, err := s.json(where, trimmed, known); err == nil {
			return text
		}
	}
	return s.text(where, string(trimmed), scrubbed())
}

// response processes a response's body with the scrubber work, and returns the new body and its leaves.
func (s *schema) response(work *scrubber, operation *operation, status int, body []byte) (string, []leaf) {
	work.named = s.named
	known, kind := scrubbed(), bodyJSON
	switch {
	case status >= http.StatusMultipleChoices || status == http.StatusNoContent:
		known = s.failure
	case operation != nil:
		kind = operation.responds
		if operation.response != nil {
			known = operation.response
		}
	}
	text := work.body("body", body, known, kind)
	return text, work.leaves
}

// keptHeaders are the response headers that the client reads.
var keptHeaders = map[string]func(string) bool{
	"X-Pagesize": isCount, "X-Totalpages": isCount, "X-Totalitems": isCount,
	"Retry-After":  isRetryAfter,
	"Content-Type": isKeptType,
}

// Headers that a recording adds to a report, so that replays and checks need no settings.
const (
	columnsHeader = "Report-Columns" // the names in the kept first row
	amountsHeader = "Report-Amounts" // columns whose amounts are kept
)

// columns are the names of kept columns of reports.
type columns struct {
	names   []string // kept if a first row has only these and amounts
	amounts []string // columns in which amounts are kept too
}

// columnsOf returns the columns that a recorded response lists.
func columnsOf(header map[string][]string) columns {
	return columns{names: header[columnsHeader], amounts: header[amountsHeader]}
}

// isColumn allows no card number and no long text.
var isColumn = matching(`^([^0-9]|[0-9]{1,4}([^0-9]|$)){1,64}$`)

func isRetryAfter(value string) bool {
	_, err := http.ParseTime(value)
	return isCount(value) || err == nil && len(value) == len(http.TimeFormat)
}

// headers returns the kept part of header. asked is the vendor name that the request accepts.
func headers(header http.Header, asked string) http.Header {
	kept := http.Header{}
	for name, allowed := range keptHeaders {
		value := header.Get(name)
		if name == "Content-Type" && value != "" {
			value = normalType(value, asked)
		}
		if value != "" && allowed(value) {
			kept.Set(name, value)
		}
	}
	return kept
}

// keptTypes are media types that are written unchanged.
var keptTypes = []string{
	"application/json", "application/octet-stream", "application/x-www-form-urlencoded", "text/csv", "text/html",
	"text/plain", vendorType(recordedVendor), vendorType(strangeVendor), unknownType,
}

// unknownType replaces any other media type. The client treats such a response as the response of a proxy.
const unknownType = "application/x-unknown"

func vendorType(vendor string) string { return "application/vnd." + vendor + "+json" }

func isKeptType(value string) bool {
	return slices.Contains(keptTypes, strings.TrimSuffix(value, charset))
}

const charset = "; charset=utf-8"

// normalType returns a media type without the vendor's name, and without parameters other than UTF-8.
func normalType(value, asked string) string {
	base, parameters, err := mime.ParseMediaType(value)
	if err != nil {
		return unknownType
	}
	if vendor, ok := vendorOf(base); ok {
		if base = vendorType(strangeVendor); strings.EqualFold(vendor, asked) {
			base = vendorType(recordedVendor)
		}
	}
	if !slices.Contains(keptTypes, base) {
		return unknownType
	}
	if strings.EqualFold(parameters["charset"], "utf-8") {
		base += charset
	}
	return base
}

// vendorOf returns <vendor> of a media type application/vnd.<vendor>+json.
func vendorOf(mediaType string) (string, bool) {
	mediaType, _, _ = strings.Cut(strings.TrimSpace(mediaType), ";")
	rest, ok := strings.CutPrefix(strings.ToLower(mediaType), "application/vnd.")
	if !ok {
		return "", false
	}
	return strings.CutSuffix(rest, "+json")
}

// askedVendor returns the vendor name that a request accepts.
func askedVendor(header http.Header) string {
	for value := range strings.SplitSeq(strings.Join(header.Values("Accept"), ","), ",") {
		if vendor, ok := vendorOf(value); ok {
			return vendor
		}
	}
	return ""
}
