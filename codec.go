package prepaid

import (
	"bytes"
	"strconv"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/number"
)

// wireTime is the reference's date-time form, in UTC.
const wireTime = "2006-01-02T15:04:05Z"

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

// decodeJSON reads a response's one JSON value into out.
func decodeJSON[T any](r *response, out *T) error {
	body := bytes.TrimSpace(r.body)
	if len(body) == 0 {
		return r.undecodable(errEmptyBody)
	}
	if string(body) == "null" {
		return r.undecodable(errNull)
	}
	if plain, ok := any(out).(wireReadable); !ok || !readWire(body, plain) {
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
	if !readWireItems(bytes.TrimSpace(r.body), items) {
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
