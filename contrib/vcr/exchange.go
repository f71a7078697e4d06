package prepaidvcr

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"
)

// serviceAddress replaces the service's address. Its domain cannot be registered.
const (
	serviceHost    = "service.invalid"
	serviceAddress = "https://" + serviceHost + "/3.0"
)

// request is a request in the form for a cassette.
type request struct {
	*walk
	url  string
	body string
}

// name returns the name of the operation, for errors.
func (r *request) name() string {
	if r.operation == nil {
		return "an unknown operation"
	}
	return r.operation.name
}

// request reads the request line and the body.
func (s *schema) request(replace func(leaf) string, method string, address *url.URL, body []byte) *request {
	operation, segments := s.find(method, address)
	w := &walk{schema: s, operation: operation, replace: replace, places: map[string][]leaf{}}
	r := &request{walk: w, url: serviceAddress + w.path(segments)}
	if operation == nil {
		return r
	}
	if query := w.pairs("query ", address.RawQuery, operation.query); query != "" {
		r.url += "?" + query
	}
	switch {
	case len(bytes.TrimSpace(body)) == 0:
	case operation.form:
		r.body = w.pairs("body ", string(body), map[string]*shape{"grant_type": {keep: isGrant}})
	default:
		r.body = w.read(body, operation.request)
	}
	return r
}

// failure is the shape of every error response. A code must have the form of the reference's codes, as in the client's errors; the
// description may repeat the request.
func failure() *shape {
	return &shape{members: map[string]*shape{"error": {keep: isErrorCode}, "error_description": {}}}
}

// response reads a response's body and returns the new body.
func (s *schema) response(replace func(leaf) string, operation *operation, status int, body []byte) (string, *walk) {
	w := &walk{schema: s, operation: operation, replace: replace, places: map[string][]leaf{}}
	var known *shape
	failed := status >= http.StatusMultipleChoices || status == http.StatusNoContent
	switch {
	case failed:
		known = failure()
	case operation != nil:
		known = operation.response
	}
	text := w.read(body, known)
	if failed || operation != nil && operation.name == tokenName {
		w.dropped = nil // a failure shows no other values, and the client itself reads a token
	}
	return text, w
}

// keptHeaders are the response headers that the client reads.
var keptHeaders = map[string]func(string) bool{
	"X-Pagesize": isCount, "X-Totalpages": isCount, "X-Totalitems": isCount,
	"Retry-After":  isRetryAfter,
	"Content-Type": func(string) bool { return true }, // of keptTypes
}

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

// recordedVendor replaces the vendor name in media types.
const recordedVendor = "vendor"

func vendorType(vendor string) string { return "application/vnd." + vendor + "+json" }

// keptTypes are media types that are written unchanged.
var keptTypes = []string{
	"application/json", "application/octet-stream", "application/x-www-form-urlencoded", "text/csv", "text/html", "text/plain",
}

// normalType returns a media type without the vendor's name and without parameters. The client treats a response of an unknown type
// as the response of a proxy.
func normalType(value, asked string) string {
	base, _, err := mime.ParseMediaType(value)
	switch {
	case err == nil && base == vendorType(strings.ToLower(asked)):
		return vendorType(recordedVendor)
	case err == nil && slices.Contains(keptTypes, base):
		return base
	}
	return "application/x-unknown"
}

var acceptedVendor = regexp.MustCompile(`(?i)application/vnd\.([^,;]+)\+json`)

// askedVendor returns the vendor name that a request accepts.
func askedVendor(header http.Header) string {
	if match := acceptedVendor.FindStringSubmatch(strings.Join(header.Values("Accept"), ",")); match != nil {
		return match[1]
	}
	return recordedVendor
}

// served returns a recorded response's header, with the vendor that this request accepts.
func served(recorded map[string][]string, vendor string) http.Header {
	header := http.Header{}
	for name, values := range recorded {
		for _, value := range values {
			if keptHeaders[name] != nil {
				header.Add(name, strings.Replace(value, vendorType(recordedVendor), vendorType(vendor), 1))
			}
		}
	}
	return header
}
