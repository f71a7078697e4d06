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

	"github.com/cardprograms/prepaid/internal/number"
)

// wireTime is the reference's date-time form, in UTC.
const wireTime = "2006-01-02T15:04:05Z"

var (
	errEmptyAnswer        = errors.New("empty body")
	errNullAnswer         = errors.New("null instead of a value")
	errMissingMember      = errors.New("a required member is missing or null")
	errNotAnInteger       = errors.New("not an integer")
	errNotANumber         = errors.New("not a number")
	errNotATime           = errors.New("not an ISO 8601 date-time")
	errUnexpectedBody     = errors.New("not a response of the service")
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

// tolerant are how values are read: never refused for form (a number in quotes or a string without them, 12.0 for 12, a
// date-time without its zone), always refused for a value that would be wrong. An ErrorCode has no rule here and must be
// a string: the form of an error response is evidence of who sent it.
var tolerant = json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeTime),
	json.UnmarshalFromFunc(decodeInteger[int64]),
	json.UnmarshalFromFunc(decodeInteger[CompanyID]),
	json.UnmarshalFromFunc(decodeInteger[CardholderType]),
	json.UnmarshalFromFunc(decodeString[string]),
	json.UnmarshalFromFunc(decodeString[AccountID]),
	json.UnmarshalFromFunc(decodeString[AccountStatus]),
	json.UnmarshalFromFunc(decodeString[AccountType]),
	json.UnmarshalFromFunc(decodeString[FundingOutcome]),
	json.UnmarshalFromFunc(decodeString[MessageType]),
	json.UnmarshalFromFunc(decodeString[PolicyAction]),
	json.UnmarshalFromFunc(decodeString[ProductType]),
	json.UnmarshalFromFunc(decodeString[ProvisioningStatus]),
	json.UnmarshalFromFunc(decodeString[ReliabilityMode]),
	json.UnmarshalFromFunc(decodeString[RestrictionRuleType]),
	json.UnmarshalFromFunc(decodeString[RestrictionType]),
	json.UnmarshalFromFunc(decodeString[Sex]),
	json.UnmarshalFromFunc(decodeString[StorageTechnology]),
	json.UnmarshalFromFunc(decodeString[TokenizationDecision]),
	json.UnmarshalFromFunc(decodeString[WalletDeviceType]),
	json.UnmarshalFromFunc(decodeString[WalletTokenStatus]),
	json.UnmarshalFromFunc(decodeString[WalletTokenType]),
	json.UnmarshalFromFunc(decodeTransactionType),
)

// callerOptions are how a value of the caller's own is read: tolerant, also of duplicate names and bad UTF-8.
var callerOptions = json.JoinOptions(
	jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true), json.WithUnmarshalers(tolerant),
)

// decodeOptions are how responses are read. They differ from callerOptions in amounts that must not read as zero when
// they are missing or null: these start out as amountUnset, and null leaves them so (see incomplete). The library goes on
// with the same options, in a type that has no rule here.
var decodeOptions = json.JoinOptions(callerOptions, json.WithUnmarshalers(json.JoinUnmarshalers(
	json.UnmarshalFromFunc(decodeCardholder),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, a *Account) error {
		type plain Account
		a.startUnset()
		return json.UnmarshalDecode(d, (*plain)(a))
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, a *AccountSummary) error {
		type plain AccountSummary
		a.startUnset()
		return json.UnmarshalDecode(d, (*plain)(a))
	}),
	json.UnmarshalFromFunc(func(d *jsontext.Decoder, t *Transaction) error {
		type plain Transaction
		t.startUnset()
		return json.UnmarshalDecode(d, (*plain)(t))
	}),
	tolerant,
)))

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
	if plain, ok := body.(wireWritable); ok {
		if written, ok := writeWire(plain); ok {
			return written, nil
		}
	}
	return json.Marshal(body, encodeOptions)
}

// decodeString reads a string, or a number as it was written. Null is the empty string.
func decodeString[T ~string](d *jsontext.Decoder, to *T) error {
	token, err := d.ReadToken()
	if err != nil {
		return err
	}
	switch token.Kind() {
	case 'n':
		*to = ""
	case '0', '"':
		*to = T(token.String())
	default:
		return errWrongType
	}
	return nil
}

// decodeTransactionType reads a code; one that arrives as a number may have lost its leading zeros.
func decodeTransactionType(d *jsontext.Decoder, t *TransactionType) error {
	bare := d.PeekKind() == '0'
	err := decodeString(d, t)
	if code, ok := number.Integer([]byte(*t)); bare && ok {
		*t = TransactionType(padCode(string(code)))
	}
	return err
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
		value, ok := parseInteger(token.String())
		if !ok || int64(T(value)) != value {
			return errNotAnInteger
		}
		*n = T(value)
		return nil
	}
	return errNotAnInteger
}

// parseInteger also reads what only a string can hold, such as 007.
func parseInteger(text string) (int64, bool) {
	if value, ok := number.Int64([]byte(text)); ok {
		return value, true
	}
	value, err := strconv.ParseInt(text, 10, 64)
	return value, err == nil
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
	if !complete(out) {
		return a.undecodable(errMissingMember)
	}
	return nil
}

// decodeItems reads a response's array of JSON values, each with its required members.
func decodeItems[T any](a *attempt, items *[]T) error {
	if !readWireItems(bytes.TrimSpace(a.body), items) {
		*items = nil
		if err := decodeJSON(a, items); err != nil {
			return err
		}
	}
	for i := range *items {
		if !complete(&(*items)[i]) {
			return a.undecodable(errMissingMember)
		}
	}
	return nil
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
	if a.status == http.StatusNoContent || kind == answerRaw || kind == answerData || !bytes.Contains(a.body, []byte(`"error"`)) {
		return ""
	}
	code, _ := a.errorShape()
	return code
}

// errorShape reads the shape of section 7. Any other body has no code; a description of another type is no description.
func (a *attempt) errorShape() (code ErrorCode, description string) {
	var shape struct {
		Error       ErrorCode      `json:"error"`
		Description jsontext.Value `json:"error_description"`
	}
	if json.Unmarshal(a.body, &shape, decodeOptions) != nil {
		return "", ""
	}
	_ = json.Unmarshal(shape.Description, &description, decodeOptions)
	return shape.Error, description
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
		errMissingMember, errNullAnswer, errNotAnInteger, errNotANumber, errNotATime, ErrAmountSyntax, ErrAmountRange, ErrDateSyntax,
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
