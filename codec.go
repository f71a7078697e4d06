package prepaid

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"reflect"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

// encodeOptions are how requests are written: date-times in UTC to the second, secrets revealed. Nowhere else
// does a secret leave its closure.
var encodeOptions = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
		return e.WriteToken(jsontext.String(t.UTC().Format(wire.TimeLayout)))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, s Secret) error {
		return e.WriteToken(jsontext.String(s.Reveal()))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, value selfEncoder) error { return value.encode(e) }),
))

// scalars are how values of the plain types are read, see tolerant.
var scalars = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeTime),
	json.UnmarshalFromFunc(decodeInteger[int64]),
	json.UnmarshalFromFunc(decodeInteger[CompanyID]),
	json.UnmarshalFromFunc(decodeString[string]),
	json.UnmarshalFromFunc(decodeString[AccountID]),
	json.UnmarshalFromFunc(decodeCode),
)

// tolerant are how values are read: never refused for form (a number in quotes or a string without them, 12.0 for 12, a
// date-time without its zone), always refused for a value that would be wrong.
var tolerant = json.JoinUnmarshalers(scalars, json.UnmarshalFromFunc(decodeListed))

// callerOptions are how a value of the caller's own is read.
var callerOptions = json.JoinOptions(syntaxOptions, json.WithUnmarshalers(tolerant))

// decodeOptions are how responses are read. They differ from callerOptions in amounts that must not read as zero when
// they are missing or null: these start out as amountUnset, and null leaves them so (see incomplete). The library goes on
// with the same options, in a type that has no rule here.
var decodeOptions = json.JoinOptions(callerOptions, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, value selfDecoder) error { return value.decode(d) }),
	tolerant,
)))

// selfEncoder is a type with a form of its own.
type selfEncoder interface {
	encode(e *jsontext.Encoder) error
}

// selfDecoder is a type with a form of its own.
type selfDecoder interface {
	decode(d *jsontext.Decoder) error
}

// wireReadable is a type that can be read on the fast path.
type wireReadable interface{ readWire(r *wire.Reader) }

// wireWritable is a type that can be written on it.
type wireWritable interface{ writeWire(w *wire.Writer) }

// incomplete is a type some of whose members must be there: those whose zero would be taken for a value of the service,
// and those that identify something. The rest of what the reference requires may be missing or null, which reads as the
// zero value.
type incomplete interface{ missing() bool }

// complete reports whether item has all members that must be there.
func complete[T any](item *T) bool {
	checked, ok := any(item).(incomplete)
	return !ok || !checked.missing()
}

// encode writes a request body. It cannot fail for the types of this package, whose text was validated.
func encode(body any) ([]byte, error) {
	if written, ok := writeBody(body); ok {
		return written, nil
	}
	return json.Marshal(body, encodeOptions)
}

// decodeString reads a string, or a number as it was written. Null is the empty string.
func decodeString[T ~string](d *jsontext.Decoder, to *T) error {
	text, _, err := readScalar(d, errWrongType)
	if err == nil {
		*to = T(text)
	}
	return err
}

// readScalar reads a string, or a number as it was written, and its kind. Null has no text; anything else is the error other.
func readScalar(d *jsontext.Decoder, other error) (text string, kind jsontext.Kind, err error) {
	token, err := d.ReadToken()
	if err != nil {
		return "", 0, err
	}
	switch kind = token.Kind(); kind {
	case 'n':
		return "", kind, nil
	case '0', '"':
		return token.String(), kind, nil
	}
	return "", kind, other
}

// decodeCode reads a code; one that arrives as a number may have lost its leading zeros.
func decodeCode(d *jsontext.Decoder, code interface{ setCode(text string) }) error {
	bare := d.PeekKind() == '0'
	var text string
	if err := decodeString(d, &text); err != nil {
		return err
	}
	if integer, ok := number.Integer([]byte(text)); bare && ok {
		text = padCode(string(integer))
	}
	code.setCode(text)
	return nil
}

// decodeListed reads a value of a type whose values the reference lists, as decodeString and decodeInteger do. A caller's own
// type is left to the library.
func decodeListed(d *jsontext.Decoder, listed interface{ Known() bool }) error {
	to := reflect.ValueOf(listed).Elem()
	switch {
	case to.Type().PkgPath() != reflect.TypeFor[Amount]().PkgPath():
	case to.Kind() == reflect.String:
		var text string
		if err := decodeString(d, &text); err != nil {
			return err
		}
		to.SetString(text)
		return nil
	case to.Kind() == reflect.Int:
		value := int(to.Int())
		if err := decodeInteger(d, &value); err != nil {
			return err
		}
		to.SetInt(int64(value))
		return nil
	}
	return json.UnmarshalDecode(d, listed, json.WithUnmarshalers(scalars))
}

// decodeTime reads ISO 8601 with or without fraction and offset; without an offset it is UTC. An empty string
// and null are the zero time.
func decodeTime(d *jsontext.Decoder, t *time.Time) error {
	text, kind, err := readScalar(d, errNotATime)
	if err != nil {
		return err
	}
	parsed, ok := wire.ParseTime(text)
	if !ok || kind == '0' {
		return errNotATime
	}
	*t = parsed
	return nil
}

// decodeInteger reads 12, "12", 12.0 and null; anything that is not a whole number in range is an error.
func decodeInteger[T ~int | ~int64](d *jsontext.Decoder, n *T) error {
	text, kind, err := readScalar(d, errNotAnInteger)
	if err != nil || kind == 'n' {
		return err
	}
	value, ok := parseInteger(text)
	if !ok || int64(T(value)) != value {
		return errNotAnInteger
	}
	*n = T(value)
	return nil
}

// parseInteger also reads what only a string can hold, such as 007.
func parseInteger(text string) (int64, bool) {
	if value, ok := number.Int64([]byte(text)); ok {
		return value, true
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil
}

// readItem reads body's one value on the fast path. False means that nothing is known of it, and that item holds rubbish.
func readItem(body []byte, item any) bool {
	plain, ok := item.(wireReadable)
	return ok && wire.Read(body, plain.readWire)
}

// readItems reads body, an array, in the same way.
func readItems[T any](body []byte) ([]T, bool) {
	if _, ok := any((*T)(nil)).(wireReadable); !ok {
		return nil, false
	}
	return wire.ReadItems(body, func(item *T, r *wire.Reader) { any(item).(wireReadable).readWire(r) })
}

// writeBody writes a body on the fast path, if it can.
func writeBody(body any) ([]byte, bool) {
	plain, ok := body.(wireWritable)
	if !ok {
		return nil, false
	}
	return wire.Write(plain.writeWire)
}

// decodeJSON reads a response's one JSON value into out.
func decodeJSON[T any](r *response, out *T) error {
	body := bytes.TrimSpace(r.body)
	if len(body) == 0 {
		return r.undecodable(errEmptyBody)
	}
	if string(body) == "null" {
		return r.undecodable(errNull)
	}
	if !readItem(body, out) {
		*out = *new(T)
		if err := json.Unmarshal(body, out, decodeOptions); err != nil {
			return r.undecodable(err)
		}
	}
	if !complete(out) {
		return r.undecodable(errMissingMember)
	}
	return nil
}

// decodeItems reads a response's array of JSON values, each with its required members.
func decodeItems[T any](r *response, items *[]T) error {
	var ok bool
	if *items, ok = readItems[T](bytes.TrimSpace(r.body)); !ok {
		*items = nil
		if err := decodeJSON(r, items); err != nil {
			return err
		}
	}
	for i := range *items {
		if !complete(&(*items)[i]) {
			return r.undecodable(errMissingMember)
		}
	}
	return nil
}

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
