package prepaid

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// wireTime is the reference's date-time form, in UTC.
const wireTime = "2006-01-02T15:04:05Z"

var (
	errEmptyAnswer        = errors.New("empty body")
	errNullAnswer         = errors.New("null instead of a value")
	errMissingMember      = errors.New("a required member is missing or null")
	errNotAnInteger       = errors.New("not an integer")
	errNotATime           = errors.New("not an ISO 8601 date-time")
	errUnexpectedBody     = errors.New("not an answer of the service")
	errNotATransactionID  = errors.New("a transaction id that is not digits above zero")
	errUnexpectedResponse = errors.New("unexpected status, or a body where none is due")
)

// encodeOptions are how requests are written: date-times in UTC to the second, secrets revealed. Nowhere else
// does a secret leave its closure.
var encodeOptions = json.WithMarshalers(json.JoinMarshalers(
	json.MarshalToFunc(func(e *jsontext.Encoder, t time.Time) error {
		return e.WriteToken(jsontext.String(t.UTC().Format(wireTime)))
	}),
	json.MarshalToFunc(func(e *jsontext.Encoder, s Secret) error {
		return e.WriteToken(jsontext.String(s.Reveal()))
	}),
	json.MarshalToFunc(encodeCardholder),
))

// decodeOptions are how answers are read: never refused for form (duplicate names, bad UTF-8, a number in
// quotes, 12.0 for 12, a date-time without its zone), always refused for a value that would be wrong.
var decodeOptions = json.JoinOptions(
	decodeForms,
	json.WithUnmarshalers(json.JoinUnmarshalers(
		decodeScalars,
		json.UnmarshalFromFunc(decodeCardholder),
		// A balance that is missing or null must not read as zero: it starts out as no amount at all, and null
		// leaves it so (see missing). The decoder goes on with the same options, in a type that has no rule here.
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, a *Account) error {
			type plain Account
			a.Balance = amountUnset()
			return json.UnmarshalDecode(d, (*plain)(a))
		}),
		json.UnmarshalFromFunc(func(d *jsontext.Decoder, a *AccountSummary) error {
			type plain AccountSummary
			a.Balance = amountUnset()
			return json.UnmarshalDecode(d, (*plain)(a))
		}),
	)),
)

// The parts of decodeOptions that hold for every type.
var (
	decodeForms   = json.JoinOptions(jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
	decodeScalars = json.JoinUnmarshalers(
		json.UnmarshalFromFunc(decodeTime),
		json.UnmarshalFromFunc(decodeInteger[int64]),
		json.UnmarshalFromFunc(decodeInteger[CompanyID]),
		json.UnmarshalFromFunc(decodeInteger[CardholderType]),
	)
)

// incomplete is a type some of whose members must be there.
type incomplete interface{ missing() bool }

// encode writes a request body. It cannot fail for the types of this package, whose text was validated.
func encode(body any) ([]byte, error) {
	if plain, ok := body.(wireWritable); ok {
		if written, ok := writeWire(plain); ok {
			return written, nil
		}
	}
	return json.Marshal(body, encodeOptions)
}

// decodeTime reads ISO 8601 with or without fraction and offset; without an offset it is UTC. An empty string
// and null are the zero time.
func decodeTime(d *jsontext.Decoder, t *time.Time) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*t = time.Time{}
		return nil
	case '"':
		parsed, err := parseTime(token.String())
		if err != nil {
			return err
		}
		*t = parsed
		return nil
	}
	return errNotATime
}

func parseTime(text string) (time.Time, error) {
	if text == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, text); err == nil {
		return t.UTC(), nil
	}
	for _, layout := range [...]string{
		"2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05",
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), nil
		}
	}
	return time.Time{}, errNotATime
}

// decodeInteger reads 12, "12", 12.0 and null; anything that is not a whole number in range is an error.
func decodeInteger[T ~int | ~int64](d *jsontext.Decoder, n *T) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		return nil
	case '0', '"':
		value, err := parseInteger(token.String())
		if err != nil || int64(T(value)) != value {
			return errNotAnInteger
		}
		*n = T(value)
		return nil
	}
	return errNotAnInteger
}

func parseInteger(text string) (int64, error) {
	if whole, ok := integerText([]byte(text)); ok { // 12 for 12.0 and 1.2e1
		text = whole
	}
	value, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, errNotAnInteger
	}
	return value, nil
}

// decodeJSON reads an answer's one JSON value into out.
func decodeJSON[T any](a *attempt, out *T) error {
	body := bytes.TrimSpace(a.body)
	if len(body) == 0 {
		return a.undecodable(errEmptyAnswer)
	}
	if string(body) == "null" {
		return a.undecodable(errNullAnswer)
	}
	if plain, ok := any(out).(wireReadable); !ok || !readWire(body, plain) {
		*out = *new(T)
		if err := json.Unmarshal(body, out, decodeOptions); err != nil {
			return a.undecodable(err)
		}
	}
	if checked, ok := any(out).(incomplete); ok && checked.missing() {
		return a.undecodable(errMissingMember)
	}
	return nil
}

// decodeText reads an octet-stream string, bare or JSON-quoted.
func decodeText(a *attempt) (string, error) {
	body := bytes.TrimSpace(a.body)
	if len(body) == 0 {
		return "", a.undecodable(errEmptyAnswer)
	}
	if !a.fromService() || body[0] == '<' {
		return "", a.undecodable(errUnexpectedBody)
	}
	if string(body) == "null" {
		return "", a.undecodable(errNullAnswer)
	}
	if body[0] != '"' {
		return string(body), nil
	}
	var text string
	if err := json.Unmarshal(body, &text, decodeOptions); err != nil {
		return "", a.undecodable(err)
	}
	return text, nil
}

// empty reports a whole body that says nothing: blank, null or {}.
func (a *attempt) empty() bool {
	body := bytes.TrimSpace(a.body)
	inner, object := bytes.CutPrefix(body, []byte("{"))
	switch {
	case a.oversize:
		return false
	case object:
		return string(bytes.TrimSpace(inner)) == "}"
	}
	return len(body) == 0 || string(body) == "null"
}

// saysError returns the code of an error that came with a success status. Left out are the 204 of a report that is not
// ready, which has that shape, and bodies that are the caller's to read.
func (a *attempt) saysError(kind answerKind) ErrorCode {
	if a.status == http.StatusNoContent || kind == answerRaw || a.mediaType == "application/octet-stream" ||
		!bytes.Contains(a.body, []byte(`"error"`)) {
		return ""
	}
	code, _ := a.errorShape()
	return code
}

// errorShape reads the shape of section 7. Any other body has no code.
func (a *attempt) errorShape() (code ErrorCode, description string) {
	var shape struct {
		Error       string `json:"error"`
		Description string `json:"error_description"`
	}
	if json.Unmarshal(a.body, &shape, decodeOptions) != nil {
		return "", ""
	}
	return ErrorCode(shape.Error), shape.Description
}

// undecodable makes the DecodeError of a, without the content that json quotes in its errors.
func (a *attempt) undecodable(err error) error {
	failure := &DecodeError{StatusCode: a.status, MediaType: printableMediaType(a.mediaType), Err: err}
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
		errMissingMember, errNullAnswer, errNotAnInteger, errNotATime, ErrAmountSyntax, ErrAmountRange, ErrDateSyntax,
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
