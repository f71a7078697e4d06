package exchange

import (
	"cmp"
	"mime"
	"net/http"
	"strings"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// MediaType returns the media type without parameters, in lower case; empty if there is none. Values that a proxy repeated count
// once, empty ones not. Different values are returned together: they are no media type.
func MediaType(header http.Header) (found string) {
	values := header["Content-Type"]
	if len(values) == 1 && isPlain(values[0]) {
		return values[0]
	}
	all := strings.ToLower(strings.Join(values, ", "))
	if strings.Contains(all, ";") {
		if mediaType, _, err := mime.ParseMediaType(all); err == nil {
			return mediaType
		}
	}
	for value := range strings.SplitSeq(all, ",") {
		value, _, _ = strings.Cut(value, ";")
		if value = strings.TrimSpace(value); found != "" && value != "" && value != found {
			return found + ", " + value
		}
		found = cmp.Or(found, value)
	}
	return found
}

// isPlain reports whether text has nothing but what most media types have.
func isPlain(text string) bool {
	for _, c := range []byte(text) {
		if !ascii.IsLower(c) && c != '/' && c != '.' && c != '+' && c != '-' {
			return false
		}
	}
	return true
}

// PrintableMediaType returns a media type, or several with commas in between. Any other text, which might repeat request data, is "?".
func PrintableMediaType(mediaType string) string {
	const longest = 100
	for one := range strings.SplitSeq(mediaType, ",") {
		if one = strings.TrimSpace(one); len(mediaType) > longest || one != "" && !IsMediaType(one) {
			return "?"
		}
	}
	return mediaType
}

// IsMediaType reports whether t is like text/plain, in lower case and without parameters.
func IsMediaType(t string) bool {
	kind, subtype, slash := strings.Cut(t, "/")
	return slash && ascii.IsName(kind) && ascii.IsName(strings.ReplaceAll(subtype, "+", "")) && t == strings.ToLower(t)
}
