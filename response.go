package prepaid

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// response is what the service returned to one request, as the decoders read it. It is valid until its call returns, and
// so is its body; stream may outlive it.
type response struct {
	started    time.Time // of the request
	status     int       // 0 without a response
	header     http.Header
	mediaType  string
	vendor     string // the media type that the service should respond with
	body       []byte
	stream     io.ReadCloser // instead of body
	oversize   bool          // a success longer than MaxResponseBytes
	retryAfter time.Duration
}

var (
	errEmptyBody          = errors.New("empty body")
	errNull               = errors.New("null instead of a value")
	errMissingMember      = errors.New("a required member is missing or null")
	errNotAnInteger       = errors.New("not an integer")
	errNotANumber         = errors.New("not a number")
	errNotATime           = errors.New("not an ISO 8601 date-time")
	errUnexpectedBody     = errors.New("not a response of the service")
	errNotATransactionID  = errors.New("a transaction id that is not digits above zero")
	errUnexpectedResponse = errors.New("unexpected status, or a body where none is due")
)

// fromService reports whether the response's media type can be the service's; proxies put application/json in its
// place, or a page of their own.
func (r *response) fromService() bool {
	switch r.mediaType {
	case r.vendor, "application/json", "application/octet-stream":
		return true
	case "", "text/plain":
		return !bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("<"))
	}
	return false
}

// declared reports whether the media type is one that the reference declares, or application/json in its place. With any
// other, a success that cannot be read proves nothing.
func (r *response) declared(kind responseKind) bool {
	switch r.mediaType {
	case r.vendor, "application/json":
		return true
	case "application/octet-stream":
		return kind == responseText || kind == responseData
	}
	return false
}

// empty reports a whole body that says nothing: blank, null or {}.
func (r *response) empty() bool {
	body := bytes.TrimSpace(r.body)
	inner, object := bytes.CutPrefix(body, []byte("{"))
	switch {
	case r.oversize:
		return false
	case object:
		return string(bytes.TrimSpace(inner)) == "}"
	}
	return len(body) == 0 || string(body) == "null"
}

// saysError returns the code of an error that came with a success status. Left out are the 204 of a report that is not
// ready, which has that shape, and bodies that are the caller's to read.
func (r *response) saysError(kind responseKind) ErrorCode {
	if r.status == http.StatusNoContent || kind == responseRaw || kind == responseData || !bytes.Contains(r.body, []byte(`"error"`)) {
		return ""
	}
	code, _ := r.errorShape()
	return code
}

// syntaxOptions are how anything is read: with duplicate names and bad UTF-8.
var syntaxOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// errorShape reads the shape of section 7, and that strictly: it is evidence of who sent the response. Any other body has no
// code; a description of another type is no description.
func (r *response) errorShape() (code ErrorCode, description string) {
	var shape struct {
		Error       ErrorCode      `json:"error"`
		Description jsontext.Value `json:"error_description"`
	}
	if json.Unmarshal(r.body, &shape, syntaxOptions) != nil {
		return "", ""
	}
	switch shape.Description.Kind() {
	case '"':
		_ = json.Unmarshal(shape.Description, &description, syntaxOptions)
	case '0':
		description = string(shape.Description)
	}
	return shape.Error, description
}

// undecodable makes the DecodeError of r, without the content that json quotes in its errors.
func (r *response) undecodable(err error) error {
	failure := &DecodeError{StatusCode: r.status, MediaType: printableMediaType(r.mediaType), Err: err}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		failure.Offset, failure.Err = semantic.ByteOffset, errWrongType
		if semantic.Err != nil {
			failure.Err = quiet(semantic.Err)
		}
	}
	if syntactic, ok := errors.AsType[*jsontext.SyntacticError](err); ok {
		failure.Offset, failure.Err = syntactic.ByteOffset, errNotJSON
		if errors.Is(err, io.ErrUnexpectedEOF) {
			failure.Err = io.ErrUnexpectedEOF
		}
	}
	return failure
}

var (
	errWrongType = errors.New("a member has the wrong type")
	errNotJSON   = errors.New("not JSON")
)

// quiet keeps an error of this package and replaces any other, whose text may quote the body.
func quiet(err error) error {
	for _, known := range []error{
		errMissingMember, errNull, errNotAnInteger, errNotANumber, errNotATime, ErrAmountSyntax, ErrAmountRange, ErrDateSyntax,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errWrongType
}

// mediaTypeOf returns the type without parameters, in lower case; empty when there is none.
func mediaTypeOf(contentType string) string {
	if contentType == "" || strings.IndexByte(contentType, ';') < 0 {
		return strings.ToLower(strings.TrimSpace(contentType))
	}
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		mediaType, _, _ = strings.Cut(contentType, ";")
	}
	return strings.ToLower(strings.TrimSpace(mediaType))
}

// printableMediaType does the same for a Content-Type without parameters.
func printableMediaType(mediaType string) string {
	const longest = 100
	kind, subtype, slash := strings.Cut(mediaType, "/")
	if len(mediaType) > longest || !slash && kind != "" || !ascii.IsName(kind) || !ascii.IsName(strings.ReplaceAll(subtype, "+", "")) {
		return "?"
	}
	return mediaType
}
