package prepaid

import (
	"cmp"
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"encoding"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strconv"
	"strings"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/ascii"
	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/redact"
	"github.com/cardprograms/prepaid/internal/wire"
)

var errTransactionIDSyntax error = &valueError{"prepaid: transaction id: not a number or string"}

// HookID identifies a hook: a UUID.
type HookID string

// MessageID identifies a message of a hook.
type MessageID string

// AccountID is the EAID of a card account, not its external_account_id.
type AccountID string

// CompanyID identifies a program (company): it owns accounts and one policy.
type CompanyID int64

// TransactionID identifies a ledger transaction. The service sends numbers and strings: both are read as text, so that no digit is lost,
// and each call sends the form that it requires. On its own, it marshals as a JSON string.
type TransactionID string

// UnmarshalJSON keeps strings and numbers, an integer in plain form: 12 for 12.0 or 1.2e1. null is the empty ID. Errors: [ErrSyntax] for
// other values.
func (id *TransactionID) UnmarshalJSON(data []byte) error {
	text, ok := scalarText(data)
	if !ok {
		return errTransactionIDSyntax
	}
	*id = TransactionID(text)
	return nil
}

// scalarText returns the text of a JSON string, the plain form of a number, and nothing for null.
func scalarText(data []byte) (text string, ok bool) {
	kind, scalar := number.Scalar(data)
	if kind == number.Number {
		scalar, ok = number.Integer(scalar)
		return string(scalar), ok
	}
	return string(scalar), kind != number.Other
}

// numeric reports whether id can be sent as a JSON number without changing its text.
func (id TransactionID) numeric() bool {
	digits := id
	if len(id) > 0 && id[0] == '-' {
		digits = id[1:]
	}
	return ascii.IsDigits(string(digits)) && (digits[0] != '0' || id == "0")
}

// transactionNumber is a TransactionID where the service requires a number. It refuses an ID that is not numeric.
type transactionNumber TransactionID

var _ json.Marshaler = transactionNumber("")

// MarshalJSON writes the ID as a JSON number.
func (n transactionNumber) MarshalJSON() ([]byte, error) {
	if !TransactionID(n).numeric() {
		return nil, errTransactionIDSyntax
	}
	return []byte(n), nil
}

func (id CompanyID) String() string { return strconv.FormatInt(int64(id), 10) }

const (
	// requestIDMaxAge is how old a request ID may be when it is sent. requestIDMaxAhead is how far the day of a derived ID may
	// be in the future: a run for Monday's payday is sent on Friday. The service remembers a response for 30 days from the
	// first request; after that it would pay again. The two limits add up to one day less, for differing clocks and zones and
	// for the call itself.
	requestIDMaxAge   = 22 * 24 * time.Hour
	requestIDMaxAhead = 7 * 24 * time.Hour

	requestIDTag = "7064" // distinguishes this package's IDs, which contain a day, from other UUIDs
)

// RequestID makes a payment safe to repeat: for 30 days the service returns the ID's first result, and moves no money again. Maximum: 100
// characters. Errors and logs show it: it must have no personal data.
type RequestID string

// NewRequestID returns a random ID of today (UTC) in [DeriveRequestID]'s format. Store it with the params before the call: a second ID is a
// second payment. Two of a million are equal with a probability below 1 in 10^10.
func NewRequestID() RequestID {
	var random [10]byte
	_, _ = rand.Read(random[:]) // never fails
	return formatRequestID(DateOf(time.Now().UTC()), random)
}

// DeriveRequestID returns the same ID for the same day and parts, on every machine: DeriveRequestID(payday, "payroll-2026-11", "emp-7").
// Day and parts together must identify one payment; ("ab", "c") and ("a", "bc") give different IDs. Use a fixed day, such as the payday:
// the ID is accepted from 7 days before to 22 days after it. If every part is empty, or day does not exist, the ID is empty, which a
// transfer refuses. The ID is a UUIDv8 (RFC 9562) in lower case, <YYYYMMDD>-7064-8xxx-yxxx-xxxxxxxxxxxx: the day in digits, a fixed tag,
// and 74 bits from the start of the SHA-256 of all parts, each after its length in bytes (64 bits, big endian).
func DeriveRequestID(day Date, parts ...string) RequestID {
	if strings.Join(parts, "") == "" || !day.valid() {
		return ""
	}
	var message []byte
	for _, part := range parts {
		message = binary.BigEndian.AppendUint64(message, uint64(len(part)))
		message = append(message, part...)
	}
	sum := sha256.Sum256(message)
	return formatRequestID(day, [10]byte(sum[:10]))
}

// Date returns the day in an ID of [NewRequestID] or [DeriveRequestID], in upper or lower case. It returns false for any other ID: check
// its age yourself. A transfer returns [ErrRequestIDExpired] if the day began (at midnight UTC) over 22 days ago or begins in over 7 days:
// the service may have forgotten the ID, or may forget it before the client refuses it, and pay again.
func (id RequestID) Date() (Date, bool) {
	if len(id) != 36 || id[8] != '-' || id[13] != '-' || id[18] != '-' || id[23] != '-' || id[9:13] != requestIDTag {
		return Date{}, false
	}
	var digits [20]byte
	n := 0
	for _, part := range [...]RequestID{id[14:18], id[19:23], id[24:]} {
		n += copy(digits[n:], part)
	}
	var b [10]byte
	if _, err := hex.Decode(b[:], digits[:]); err != nil || b[0]>>4 != 8 || b[2]>>6 != 0b10 {
		return Date{}, false
	}
	written, err := strconv.Atoi(string(id[:8]))
	day := Date{written / 10_000, time.Month(written / 100 % 100), written % 100}
	if err != nil || id[0] < '0' || !day.valid() {
		return Date{}, false
	}
	return day, true
}

// Expired reports whether a client refuses id at now; see [RequestID.Date].
func (id RequestID) Expired(now time.Time) bool {
	day, ok := id.Date()
	made := day.Time(time.UTC)
	return ok && (now.Sub(made) > requestIDMaxAge || made.Sub(now) > requestIDMaxAhead)
}

// formatRequestID returns a UUIDv8: day as eight decimal digits, the tag, then random, with six bits replaced by
// version and variant.
func formatRequestID(day Date, random [10]byte) RequestID {
	random[0] = random[0]&0x0f | 0x80
	random[2] = random[2]&0x3f | 0x80
	return RequestID(fmt.Sprintf("%04d%02d%02d-%s-%x-%x-%x", day.Year, day.Month, day.Day, requestIDTag, random[:2], random[2:4], random[4:]))
}

var errMCCSyntax error = &valueError{"prepaid: merchant category code: not four digits"}

// MCC is a four-digit ISO 18245 merchant category code, such as "0742". The service sends integers and strings: both are read into this
// form, and each call sends the form that it requires. Other values are kept as received.
type MCC string

// UnmarshalJSON reads a number or a string: 742, "742" and "0742" are the same code. null is the empty code. Errors: [ErrSyntax] for other
// types.
func (m *MCC) UnmarshalJSON(data []byte) error {
	text, ok := scalarText(data)
	if !ok {
		return errMCCSyntax
	}
	*m = MCC(padCode(text))
	return nil
}

// valid reports whether m is four digits, as the service requires.
func (m MCC) valid() bool { return len(m) == 4 && ascii.IsDigits(string(m)) }

// padCode adds the leading zeros that a four-digit code has lost. It returns anything else unchanged.
func padCode(s string) string {
	if len(s) < 4 && ascii.IsDigits(s) {
		s = "0000"[len(s):] + s
	}
	return s
}

// mccNumber is an MCC where the service requires an integer. It refuses a code that is not a number.
type mccNumber MCC

var _ json.Marshaler = mccNumber("")

// MarshalJSON writes the code as a JSON number, which has no leading zeros.
func (n mccNumber) MarshalJSON() ([]byte, error) {
	if n == "" || !ascii.IsDigits(string(n)) {
		return nil, errMCCSyntax
	}
	return []byte(cmp.Or(strings.TrimLeft(string(n), "0"), "0")), nil
}

// readWire reads a string or a number.
func (id *TransactionID) readWire(r *wire.Reader) {
	text, _ := r.StringOrInteger()
	r.Set((*string)(id), text)
}

// readWire reads a string or a number and restores leading zeros.
func (m *MCC) readWire(r *wire.Reader) {
	text, _ := r.StringOrInteger()
	setCode(r, (*string)(m), text)
}

func setCode(r *wire.Reader, to *string, text []byte) {
	if len(text) < 4 {
		text = []byte(padCode(string(text)))
	}
	r.Set(to, text)
}

// Secret holds a value that is never printed: not by fmt, slog, encoding/json or a dumper that uses reflection, nor from an unexported
// field of another struct. It prints as [REDACTED], even if empty. == does not compile: use [Secret.Equal]. [reflect.DeepEqual] is true
// only if both are empty. Text formats get [REDACTED] and refuse to read it back; gob, CBOR, MongoDB and others without a text form refuse a
// Secret, except that DynamoDB's library writes and reads it as empty: store secrets elsewhere.
type Secret [1]func() string

// A Secret is a closure, because fmt and other users of reflection read a string through an unexported field and follow pointers, but can
// only print the address of a function. It is in an array, because deep copies skip unexported fields.

var (
	_ fmt.Formatter            = Secret{}
	_ slog.LogValuer           = Secret{}
	_ encoding.TextMarshaler   = Secret{}
	_ encoding.TextUnmarshaler = (*Secret)(nil)
)

// NewSecret returns a Secret that holds value.
func NewSecret(value string) Secret {
	if value == "" {
		return Secret{}
	}
	return Secret{func() string { return value }}
}

// Reveal returns the value. Keep it out of logs and errors.
func (s Secret) Reveal() string {
	if s.IsZero() {
		return ""
	}
	return s[0]()
}

func (s Secret) IsZero() bool { return s[0] == nil }

// Equal compares the values; the time does not depend on where they differ.
func (s Secret) Equal(other Secret) bool {
	// Compare hashes: comparing the values themselves would end early if their lengths differ.
	a, b := sha256.Sum256([]byte(s.Reveal())), sha256.Sum256([]byte(other.Reveal()))
	return subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

func (s Secret) Format(f fmt.State, _ rune) {
	_, _ = io.WriteString(f, redact.Mark) // a formatter has no way to return an error
}

func (s Secret) LogValue() slog.Value { return slog.StringValue(redact.Mark) }

func (s Secret) MarshalText() ([]byte, error) { return []byte(redact.Mark), nil }

var errRedactedSecret = &valueError{"prepaid: secret: the text is a redacted secret, [REDACTED]"}

// UnmarshalText sets the value. Errors: [ErrSyntax] for a dumped [REDACTED].
func (s *Secret) UnmarshalText(text []byte) error {
	if string(text) == redact.Mark {
		return errRedactedSecret
	}
	*s = NewSecret(string(text))
	return nil
}

// ExtraMembers are members for which this version has no field, such as {"purpose_code":"SALA"}: a JSON object of at most 4,096 bytes; empty
// for none. They are for the operations that [Client.Do] refuses: payments, funding and the simulator. They change nothing else: a member of the
// operation is refused, however its name is spelled. They are part of the payment: every attempt sends the same bytes, stores keep them
// with the other params, and the same request ID with other members is another payment ([ErrRequestIDReused]). So do not add them to a payment
// that was sent or stored without them. Spaces and the order of names are not part of it. Safety: that of the call.
type ExtraMembers string

// MarshalText returns the text that is stored and sent: without spaces, in the order of names. It returns invalid text unchanged, and the call
// refuses it.
func (e ExtraMembers) MarshalText() ([]byte, error) { return []byte(e.text()), nil }

// encodeExtra writes nothing in a request (with omitempty): encodeBody adds the members of the body itself, but not of values in it.
func encodeExtra(to *jsontext.Encoder, e ExtraMembers) error {
	if e != "" && to.StackDepth() > 1 {
		return errMembersWithin
	}
	return to.WriteToken(jsontext.Null)
}

var errMembersWithin = errors.New("ExtraMembers of a value in the body")

func (e ExtraMembers) text() string {
	text := jsontext.Value(e)
	if e == "" || text.Format(jsontext.ReorderRawObjects(true)) != nil {
		return string(e)
	}
	return string(text)
}
