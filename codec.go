package prepaid

import (
	"bytes"
	"errors"
	"io"
	"math"
	"net/http"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/exchange"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

// encodeOptions are the options for requests: date-times in UTC with a resolution of one second, secrets revealed. A secret is
// revealed nowhere else.
var encodeOptions = json.WithMarshalers(marshalers)

var marshalers = json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
		return e.WriteToken(jsontext.String(t.UTC().Format(wire.TimeLayout)))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, s Secret) error {
		return e.WriteToken(jsontext.String(s.Reveal()))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, value selfEncoder) error {
		if !writesItself(value) {
			return wire.ErrSkip
		}
		return value.encode(e)
	}),
)

// tolerant reads values in any usual form (a number or a boolean in quotes, a string without them, 12.0 for 12, a date-time without
// a zone), but never returns a wrong value.
var tolerant = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeTime),
	json.UnmarshalFromFunc(decodeBool),
	json.UnmarshalFromFunc(decodeInteger[int64]),
	json.UnmarshalFromFunc(decodeInteger[CompanyID]),
	json.UnmarshalFromFunc(decodeString[string]),
	json.UnmarshalFromFunc(decodeString[AccountID]),
	json.UnmarshalFromFunc(decodeString[HookID]),
	json.UnmarshalFromFunc(decodeString[MessageID]),
	json.UnmarshalFromFunc(decodeCode),
	json.UnmarshalFromFunc(decodeListed),
)

// callerOptions are the options for a value of the caller's type. An incomplete value of this package inside such a value is an error.
var callerOptions = json.JoinOptions(syntaxOptions, json.WithUnmarshalers(json.JoinUnmarshalers(json.UnmarshalFromFunc(decodeOurs), tolerant)))

// decodeOurs reads a value of this package by its own rules. If a struct of the caller's embeds such values, it first reads each of them
// from the same object: the library sees only their members, and requires none.
func decodeOurs(d *jsontext.Decoder, value any) error {
	if hasRules(reflect.TypeOf(value).Elem()) {
		return completed(value, json.UnmarshalDecode(d, value, decodeOptions))
	}
	return wire.DecodeEmbedded(d, value, hasRules, func(body []byte, part any) error {
		err := json.Unmarshal(body, part, decodeOptions)
		if held, ok := part.(interface{ embedded() }); ok {
			held.embedded()
		}
		return completed(part, err)
	})
}

// decodeOptions are the options for responses. They differ from callerOptions for amounts that must not become zero:
// these start as amountUnset, and null leaves them unchanged (see incomplete). If a type has no rule here, the library
// reads its members with the same options.
var decodeOptions = json.JoinOptions(syntaxOptions, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, value selfDecoder) error { return value.decode(d) }),
	tolerant,
)))

// selfEncoder is a type that encodes itself.
type selfEncoder interface {
	encode(e *jsontext.Encoder) error
}

// selfDecoder is a type that decodes itself.
type selfDecoder interface {
	decode(d *jsontext.Decoder) error
}

// wireReadable is a type that can be read on the fast path.
type wireReadable interface{ readWire(r *wire.Reader) }

// wireWritable is a type that is written without the library.
type wireWritable interface{ writeWire(w *wire.Writer) }

// incomplete is a type with members that must be present: those whose zero value would look like a value of the service, and
// those that identify something. Other members that the reference requires may be missing or null: they become the zero value.
type incomplete interface{ missing() bool }

// writesItself reports whether a value, or the value it points to, is of a type of this package.
func writesItself(value any) bool {
	of := reflect.TypeOf(value)
	return isOurs(of) || of.Kind() == reflect.Pointer && isOurs(of.Elem())
}

// isOurs reports whether this package declares a type. A caller's struct that embeds such a type also has the type's
// unexported methods, but they ignore the struct's other members.
func isOurs(of reflect.Type) bool {
	return of.PkgPath() == reflect.TypeFor[Amount]().PkgPath()
}

// complete reports whether item has all members that must be present.
func complete(item any) bool {
	checked, ok := item.(incomplete)
	return !ok || !checked.missing()
}

// completed returns err, or an error if a decoded value is incomplete.
func completed(value any, err error) error {
	if err == nil && !complete(value) {
		return errMissingMember
	}
	return err
}

// hasRules reports whether this package declares a type and reads or checks it by its own rules.
func hasRules(of reflect.Type) bool {
	to := reflect.PointerTo(of)
	return isOurs(of) && (to.Implements(reflect.TypeFor[incomplete]()) || to.Implements(reflect.TypeFor[selfDecoder]()))
}

// decodeString reads a string, or a number as it was written. Null is the empty string.
func decodeString[T ~string](d *jsontext.Decoder, to *T) error {
	text, _, err := readScalar(d, errWrongType)
	if err == nil {
		*to = T(text)
	}
	return err
}

// readScalar returns text and kind of a string or of a number, as written. For null, text is empty; all else gives the error other.
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

// decodeCode reads a code. It restores the leading zeros that a code sent as a number may have lost.
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

// Known reports whether the reference lists value, which has one of the enumeration types of this package. Unlisted values are kept as
// received.
func Known(value listed) bool { return value != nil && value.known() }

// listed is an enumeration type of this package.
type listed interface{ known() bool }

// decodeListed reads a value of an enumeration type of this package, like decodeString and decodeInteger. The library reads
// the caller's types, with the same options for their members.
func decodeListed(d *jsontext.Decoder, value listed) error {
	to := reflect.ValueOf(value).Elem()
	switch {
	case !isOurs(to.Type()):
	case to.Kind() == reflect.String:
		var text string
		if err := decodeString(d, &text); err != nil {
			return err
		}
		to.SetString(text)
		return nil
	case to.Kind() == reflect.Int:
		card := int(to.Int())
		if err := decodeInteger(d, &card); err != nil {
			return err
		}
		to.SetInt(int64(card))
		return nil
	}
	return wire.ErrSkip
}

// decodeBool reads true and false, also as text, in capitals or not. Null is false.
func decodeBool(d *jsontext.Decoder, to *bool) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	*to = strings.EqualFold(text, "true")
	if token.Kind() != 'n' && !*to && !strings.EqualFold(text, "false") {
		return errWrongType
	}
	return nil
}

// decodeInteger reads 12, "12" and 12.0. Null leaves n unchanged. Anything but a whole number in range is an error. The least int64 is
// out of range, so that it can mark a number that was not decoded.
func decodeInteger[T ~int | ~int64](d *jsontext.Decoder, n *T) error {
	text, kind, err := readScalar(d, errNotAnInteger)
	if err != nil || kind == 'n' {
		return err
	}
	if value, ok := parseInteger(text); ok && int64(T(value)) == value && value != math.MinInt64 {
		*n = T(value)
		return nil
	}
	return errNotAnInteger
}

// parseInteger also accepts forms that only a string can contain, such as 007.
func parseInteger(text string) (int64, bool) {
	if value, ok := number.Int64([]byte(text)); ok {
		return value, true
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil
}

// readItems reads an array on the fast path. The result false proves nothing about body.
func readItems[T any](body []byte) ([]T, bool) {
	if _, ok := any((*T)(nil)).(wireReadable); !ok {
		return nil, false
	}
	return wire.ReadItems(body, func(item *T, r *wire.Reader) { any(item).(wireReadable).readWire(r) })
}

// decodeJSON reads the single JSON value of a response into out, which points to a type of this package.
func decodeJSON(r *response, out any) error {
	if plain, ok := out.(wireReadable); !ok || !wire.Read(r.body, plain.readWire) {
		reflect.ValueOf(out).Elem().SetZero()
		if err := unmarshal(r, out, decodeOptions); err != nil {
			return err
		}
	}
	if !complete(out) {
		if other, ok := out.(interface{ contradicts() bool }); ok && other.contradicts() {
			return r.undecodable(errContradiction)
		}
		return r.undecodable(errMissingMember)
	}
	return nil
}

// unmarshal reads the single JSON value of a response into out with the JSON library.
func unmarshal(r *response, out any, options json.Options) error {
	body := bytes.TrimSpace(r.body)
	if len(body) == 0 {
		return r.undecodable(errEmptyBody)
	}
	if string(body) == "null" {
		return r.undecodable(errNull)
	}
	if err := json.Unmarshal(body, out, options); err != nil {
		return r.undecodable(err)
	}
	return nil
}

// decodeItems reads a response's JSON array and checks the required members of each element.
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

// response is the service's response to one request, as the decoders read it. The response and its body are valid
// until the call returns; stream may outlive the call.
type response struct {
	started    time.Time      // when the request was sent
	status     int            // 0 without a response
	received   *http.Response // its body was read
	mediaType  string
	own        *[]string // the service's media types, and those that count as such
	body       []byte
	stream     io.ReadCloser // instead of body
	oversize   bool          // a success longer than MaxResponseBytes
	retryAfter time.Duration
}

var (
	errEmptyBody          = errors.New("empty body")
	errNull               = errors.New("null instead of a value")
	errMissingMember      = errors.New("a required member is missing or null")
	errContradiction      = errors.New("the outcome is neither approved nor declined, or is declined with a transaction ID")
	errRepeatedMember     = errors.New("a member that decides about the outcome is there twice")
	errNotAnInteger       = errors.New("not an integer")
	errNotANumber         = errors.New("not a number")
	errNotATime           = errors.New("not an ISO 8601 date-time")
	errUnexpectedBody     = errors.New("not a response of the service")
	errNotATransactionID  = errors.New("the transaction ID is not a whole number above zero")
	errUnexpectedResponse = errors.New("unexpected status or unexpected body")
)

// fromService reports whether the service may have sent the response, judging by media type and first character. Proxies
// replace application/json by another type, or send their own page.
func (r *response) fromService() bool {
	text := r.mediaType == "" || r.mediaType == "text/plain"
	return r.declared(responseText) || text && !bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("<"))
}

// declared reports whether the media type is application/json, one that the reference declares or one of Config.MediaTypes.
// With any other media type, a success proves nothing if the operation moves money or the body is unreadable.
func (r *response) declared(kind responseKind) bool {
	return slices.Contains(*r.own, r.mediaType) ||
		r.mediaType == "application/octet-stream" && (kind == responseText || kind == responseData)
}

// empty reports whether the complete body is blank, null or {}.
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

// errorWithin returns the error that was sent with a success status, or nil. It ignores the 204 of a report that is not
// ready, which has the shape of an error, and bodies that only the caller can interpret.
func (r *response) errorWithin(kind responseKind) error {
	if r.status == http.StatusNoContent || kind == responseRaw || kind == responseData ||
		!bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("{")) || !bytes.Contains(r.body, []byte(`rror"`)) { // JSON is full of `"`: slow to search
		return nil
	}
	code, _, err := r.errorShape()
	if code != "" {
		err = ErrorCode(printableCode(code))
	}
	return err
}

// syntaxOptions are the options for all JSON: duplicate names and invalid UTF-8 are accepted.
var syntaxOptions = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))

// errorShape reads the error shape of section 7. It is strict about the code, which is evidence of the response's sender: a body of any
// other shape gives an empty code, and two codes are an error. A description that is neither a string nor a number is ignored.
func (r *response) errorShape() (code ErrorCode, description string, err error) {
	var shape struct {
		Error       ErrorCode      `json:"error"`
		Description jsontext.Value `json:"error_description"`
	}
	switch {
	case wire.Repeats(r.body, "error"):
		return "", "", errRepeatedMember
	case json.Unmarshal(r.body, &shape, syntaxOptions) != nil:
		return "", "", nil
	}
	switch shape.Description.Kind() {
	case '"':
		_ = json.Unmarshal(shape.Description, &description, syntaxOptions)
	case '0':
		description = string(shape.Description)
	}
	return shape.Error, description, nil
}

// undecodable returns the DecodeError of r, without the content that json quotes in its errors.
func (r *response) undecodable(err error) error {
	failure := &DecodeError{StatusCode: r.status, MediaType: exchange.PrintableMediaType(r.mediaType), Err: err}
	if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
		failure.Offset, failure.Err = semantic.ByteOffset, errWrongType
		if semantic.Err != nil {
			failure.Err = withoutContent(semantic.Err)
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

// withoutContent returns an error of this package unchanged and replaces any other, whose text may quote the body.
func withoutContent(err error) error {
	for _, known := range []error{
		errMissingMember, errNull, errNotAnInteger, errNotANumber, errNotATime, errAmountSyntax, ErrAmountRange, errDateSyntax,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errWrongType
}
