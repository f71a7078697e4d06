package prepaid

import (
	"bytes"
	"errors"
	"io"
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
	json.MarshalToFunc(encodeKey), json.MarshalToFunc(encodeExtra),
	json.MarshalToFunc(func(e *jsontext.Encoder, c *Cardholder) error { return encodeKeeper(e, c) }),
	json.MarshalToFunc(func(e *jsontext.Encoder, p *PortalIdentifier) error { return encodeKeeper(e, p) }),
)

// scalars read a value in any usual form (a number or a boolean in quotes, a string without them, 12.0 for 12, a date-time without a
// zone), but never return a wrong value. Null is the zero value, but leaves a number unchanged.
var scalars = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeTime), json.UnmarshalFromFunc(decodeBool), json.UnmarshalFromFunc(decodeListed),
	json.UnmarshalFromFunc(decodeString[string]), json.UnmarshalFromFunc(decodeString[AccountID]),
	json.UnmarshalFromFunc(decodeString[HookID]), json.UnmarshalFromFunc(decodeString[MessageID]),
	json.UnmarshalFromFunc(decodeInteger[int64]), json.UnmarshalFromFunc(decodeInteger[CompanyID]),
)

var (
	// decodeOptions are the options for responses. Types of this package have the same rules inside a value of the caller's type.
	decodeOptions = decodeWith(json.UnmarshalFromFunc(decodeStruct))

	// ownOptions are decodeOptions for types of this package: quicker, because the library hands only structs with rules to a function.
	ownOptions = decodeWith(ruledTypes())

	// plainOptions are ownOptions without the rules of structs.
	plainOptions = decodeWith(nil)
)

func decodeWith(structs *json.Unmarshalers) json.Options {
	return json.JoinOptions(syntaxOptions, json.WithUnmarshalers(json.JoinUnmarshalers(structs, scalars)))
}

// with returns r with the JSON of a body. The body of an invalid request is not encoded.
func (r request) with(body any) request {
	if len(r.faults) == 0 {
		r.encoded, r.unencodable = encodeBody(body, encodeOptions)
	}
	return r
}

// encodeBody returns the JSON of a request, with its further members.
func encodeBody(body any, options json.Options) ([]byte, error) {
	var w wire.Writer
	w.Body, w.Err = json.Marshal(body, options)
	if own := reflect.Indirect(reflect.ValueOf(body)); own.Kind() == reflect.Struct {
		if field, ok := own.Type().FieldByName("Extra"); ok && field.Type == reflect.TypeFor[ExtraMembers]() {
			if extra, err := own.FieldByIndexErr(field.Index); err == nil { // not in an embedded pointer that is nil
				w.Members(ExtraMembers(extra.String()).text())
			}
		}
	}
	return w.Body, w.Err
}

// wireReadable is a type that can be read on the fast path.
type wireReadable interface{ readWire(r *wire.Reader) }

// wireWritable is a type that is written without the library.
type wireWritable interface{ writeWire(w *wire.Writer) }

// provable is the result of a movement. unproven returns an error if its members together do not prove what happened.
type provable interface{ unproven() error }

// ruled is a struct with rules. wiregen generates its methods.
type ruled interface {
	// plain returns a pointer to the same struct, of a type without methods.
	plain() any
	// lacks reports whether the object that the struct was read from lacks a required member. The tag required is for members whose zero
	// value would look like a value of the service, and for those that identify something: null, and an empty text or time, are the same
	// as no member. If the tags of a struct have several values, the members of one value are enough. Members without the tag become the
	// zero value.
	lacks(object []byte) bool
}

// decodeRuled reads a struct of this package and applies its rules.
func decodeRuled[T ruled](d *jsontext.Decoder, value T) error {
	if _, ok := any(value).(keeper); ok {
		reflect.ValueOf(value).Elem().SetZero() // the member may be repeated
	}
	unread, start := d.UnreadBuffer(), d.InputOffset()
	if err := json.UnmarshalDecode(d, value.plain()); err != nil {
		return err
	}
	object := wire.Trim(unread[:d.InputOffset()-start])
	if value.lacks(object) {
		return errMissingMember
	}
	switch value := any(value).(type) {
	case keeper:
		keep(value, object)
	case provable:
		return value.unproven()
	}
	return nil
}

// decodeStruct leaves types of this package, and slices of them, to ownOptions, and other values to the library. If a caller's struct
// embeds structs with rules, each of them is first read from the same object: the library sees only their members, and requires none.
func decodeStruct(d *jsontext.Decoder, value any) error {
	of := reflect.TypeOf(value).Elem()
	switch {
	case wire.ReadsItself(value):
		return wire.ErrSkip
	case isOurs(of), of.Kind() == reflect.Slice && isOurs(of.Elem()):
		return json.UnmarshalDecode(d, value, ownOptions)
	case of.Kind() != reflect.Struct:
		return wire.ErrSkip
	}
	for _, part := range wire.Embedded(value, hasRules) {
		object := wire.Peek(d)
		if err := json.Unmarshal(object, part, ownOptions); err != nil {
			if object == nil {
				return wire.ErrSkip
			}
			if semantic, ok := errors.AsType[*json.SemanticError](err); ok {
				semantic.ByteOffset += d.InputOffset()
			}
			return err
		}
		if held, ok := part.(keeper); ok { // the unlisted members are members of the caller's struct
			_, unlisted := held.kept()
			*unlisted = ""
		}
	}
	return wire.ErrSkip
}

// isOurs reports whether this package declares a type. A caller's struct that embeds such a type also has the type's
// unexported methods, but they ignore the struct's other members.
func isOurs(of reflect.Type) bool {
	return of.PkgPath() == reflect.TypeFor[Amount]().PkgPath()
}

// hasRules reports whether a type is a struct of this package with rules.
func hasRules(of reflect.Type) bool {
	return isOurs(of) && reflect.PointerTo(of).Implements(reflect.TypeFor[ruled]())
}

// readScalar returns text and kind of a string or of a number, as written. For null, text is empty; all else gives the error other.
func readScalar(d *jsontext.Decoder, other error) (text string, kind jsontext.Kind, err error) {
	token, err := d.ReadToken()
	if err != nil {
		return "", 0, err
	}
	switch kind = token.Kind(); kind {
	case jsontext.KindNull:
		return "", kind, nil
	case jsontext.KindNumber, jsontext.KindString:
		return token.String(), kind, nil
	}
	return "", kind, other
}

func decodeString[T ~string](d *jsontext.Decoder, to *T) error {
	text, _, err := readScalar(d, errWrongType)
	if err == nil {
		*to = T(text)
	}
	return err
}

func decodeInteger[T ~int | ~int64](d *jsontext.Decoder, to *T) error {
	text, kind, err := readScalar(d, errNotAnInteger)
	if err != nil || kind == jsontext.KindNull {
		return err
	}
	integer, ok := parseInteger(text)
	if !ok || int64(T(integer)) != integer {
		return errNotAnInteger
	}
	*to = T(integer)
	return nil
}

func decodeBool(d *jsontext.Decoder, to *bool) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	text := token.String()
	*to = strings.EqualFold(text, "true")
	if token.Kind() != jsontext.KindNull && !*to && !strings.EqualFold(text, "false") {
		return errWrongType
	}
	return nil
}

func decodeTime(d *jsontext.Decoder, to *time.Time) error {
	text, kind, err := readScalar(d, errNotATime)
	if err != nil {
		return err
	}
	var ok bool
	if *to, _, ok = wire.ParseTime(text); !ok || kind == jsontext.KindNumber {
		return errNotATime
	}
	return nil
}

// decodeListed reads a value of an enumeration type of this package. The library reads the caller's types, also those that embed one.
func decodeListed(d *jsontext.Decoder, value listed) error {
	to := reflect.ValueOf(value).Elem()
	if !isOurs(to.Type()) {
		return wire.ErrSkip
	}
	if to.CanInt() {
		integer := int(to.Int())
		err := decodeInteger(d, &integer)
		to.SetInt(int64(integer))
		return err
	}
	text, kind, err := readScalar(d, errWrongType)
	if err != nil {
		return err
	}
	integer, whole := number.Integer([]byte(text))
	if _, code := value.(*TransactionType); code && whole && kind == jsontext.KindNumber {
		text = padCode(string(integer)) // a code sent as a number may have lost leading zeros
	}
	to.SetString(text)
	return nil
}

// Known reports whether the reference lists value, which has one of the enumeration types of this package. Unlisted values are kept as
// received.
func Known(value listed) bool { return value != nil && value.known() }

// listed is an enumeration type of this package.
type listed interface{ known() bool }

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
	if plain, ok := out.(wireReadable); ok && wire.Read(r.body, plain.readWire) {
		return nil
	}
	reflect.ValueOf(out).Elem().SetZero()
	return unmarshal(r, out)
}

// unmarshal reads the single JSON value of a response into out with the JSON library.
func unmarshal(r *response, out any) error {
	body := bytes.TrimSpace(r.body)
	if len(body) == 0 {
		return r.undecodable(errEmptyBody)
	}
	if string(body) == "null" {
		return r.undecodable(errNull)
	}
	if err := json.Unmarshal(body, out, decodeOptions); err != nil {
		return r.undecodable(err)
	}
	return nil
}

// decodeItems reads a response's JSON array.
func decodeItems[T any](r *response, items *[]T) (err error) {
	var ok bool
	if *items, ok = readItems[T](bytes.TrimSpace(r.body)); !ok {
		err = decodeJSON(r, items)
	}
	return err
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
		!bytes.HasPrefix(bytes.TrimSpace(r.body), []byte("{")) || !bytes.Contains(r.body, []byte(`rror"`)) {
		return nil // `rror"` and not `"error"`, which is slow to find: JSON is full of `"`
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
		errMissingMember, errContradiction, errNotATransactionID, errNull, errNotAnInteger, errNotANumber, errNotATime,
		errAmountSyntax, ErrAmountRange, errDateSyntax,
	} {
		if errors.Is(err, known) {
			return known
		}
	}
	return errWrongType
}
