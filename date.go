package prepaid

import (
	"cmp"
	"database/sql/driver"
	"encoding"
	"encoding/json"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid/internal/number"
	"github.com/cardprograms/prepaid/internal/wire"
)

var errDateSyntax error = &valueError{"prepaid: date: not a calendar day as YYYY-MM-DD"}

// Date is a calendar day without time and zone, such as a date of birth. Dates can be compared with == and be map keys. The zero Date means
// no date. A Date is sent as midnight UTC, <YYYY-MM-DD>T00:00:00Z. A date-time is read as the day written in it; the reference does not
// specify the zone. If the service writes midnight of 4 May in Sydney in UTC, the Date is 3 May. A [Cardholder] that was read keeps the
// date-time, and sends it back unchanged.
type Date struct {
	Year  int // the year, 1 to 9999
	Month time.Month
	Day   int // the day of the month, from 1
}

var (
	_ fmt.Stringer             = Date{}
	_ encoding.TextAppender    = Date{}
	_ encoding.TextMarshaler   = Date{}
	_ encoding.TextUnmarshaler = (*Date)(nil)
	_ json.Unmarshaler         = (*Date)(nil)
	_ driver.Valuer            = Date{}
)

// ParseDate reads YYYY-MM-DD. Errors: [ErrSyntax], also if there is no such day.
func ParseDate(s string) (Date, error) {
	var d Date
	if len(s) != len("YYYY-MM-DD") || d.UnmarshalText([]byte(s)) != nil {
		return Date{}, ofInput(errDateSyntax)
	}
	return d, nil
}

// DateOf returns the day of t in t's location, or zero for the zero time.
func DateOf(t time.Time) Date {
	if t.IsZero() {
		return Date{}
	}
	year, month, day := t.Date()
	return Date{Year: year, Month: month, Day: day}
}

// Time returns the first moment of d in loc; nil means UTC. The zero Date gives the zero time. Fields out of range are normalised as by
// [time.Date].
func (d Date) Time(loc *time.Location) time.Time {
	if d.IsZero() {
		return time.Time{}
	}
	if loc == nil {
		loc = time.UTC
	}
	t := time.Date(d.Year, d.Month, d.Day, 0, 0, 0, 0, loc)
	if t.Hour() > 12 { // the clocks skip midnight, and t is on the evening before
		_, t = t.ZoneBounds()
	}
	return t
}

// Compare returns -1, 0 or +1 in the order of days; the zero Date is first.
func (d Date) Compare(other Date) int {
	return cmp.Or(cmp.Compare(d.Year, other.Year), cmp.Compare(d.Month, other.Month), cmp.Compare(d.Day, other.Day))
}

// Before reports whether d is before other.
func (d Date) Before(other Date) bool { return d.Compare(other) < 0 }

// After reports whether d is after other.
func (d Date) After(other Date) bool { return d.Compare(other) > 0 }

func (d Date) IsZero() bool { return d == Date{} }

// String returns YYYY-MM-DD, or "" for the zero Date.
func (d Date) String() string {
	if d.IsZero() {
		return ""
	}
	return fmt.Sprintf("%04d-%02d-%02d", d.Year, int(d.Month), d.Day)
}

func (d Date) AppendText(b []byte) ([]byte, error) {
	switch {
	case d.IsZero():
		return b, nil
	case !d.valid():
		return b, errDateSyntax
	}
	return append(append(b, d.String()...), "T00:00:00Z"...), nil
}

// MarshalText returns the wire form, "" for the zero Date. Errors: [ErrSyntax].
func (d Date) MarshalText() ([]byte, error) {
	return d.AppendText(make([]byte, 0, len("YYYY-MM-DDT00:00:00Z")))
}

// UnmarshalText reads YYYY-MM-DD or a date-time of ISO 8601, and keeps the day as written; 24:00:00 means the next day, except on the
// last day of the year 9999. Empty text is the zero Date. Errors: [ErrSyntax].
func (d *Date) UnmarshalText(text []byte) error {
	if len(text) == 0 {
		*d = Date{}
		return nil
	}
	_, day, ok := wire.ParseTime(string(text))
	year, month, ofMonth := day.Date()
	if !ok || year == 0 {
		return errDateSyntax
	}
	*d = Date{year, month, ofMonth}
	return nil
}

// UnmarshalJSON is [Date.UnmarshalText] for a string. null is the zero Date.
func (d *Date) UnmarshalJSON(data []byte) error {
	switch kind, text := number.Scalar(data); kind {
	case number.Null:
		*d = Date{}
		return nil
	case number.String:
		return d.UnmarshalText(text)
	default:
		return errDateSyntax
	}
}

// Value returns YYYY-MM-DD, or NULL for the zero Date. Errors: [ErrSyntax].
func (d Date) Value() (driver.Value, error) {
	switch {
	case d.IsZero():
		return nil, nil
	case !d.valid():
		return nil, errDateSyntax
	}
	return d.String(), nil
}

// Scan reads a time (see [DateOf]), text, or NULL (no date). Errors: [ErrSyntax].
func (d *Date) Scan(src any) error {
	switch src := src.(type) {
	case nil:
		*d = Date{}
		return nil
	case time.Time:
		*d = DateOf(src)
		return nil
	case string:
		return d.UnmarshalText([]byte(src))
	case []byte:
		return d.UnmarshalText(src)
	default:
		return fmt.Errorf("%w: cannot scan %T", errDateSyntax, src)
	}
}

// valid reports whether d is an existing day that the wire format can represent.
func (d Date) valid() bool {
	return 1 <= d.Year && d.Year <= 9999 &&
		time.January <= d.Month && d.Month <= time.December &&
		1 <= d.Day && (d.Day <= 28 || d.Day <= time.Date(d.Year, d.Month+1, 0, 0, 0, 0, 0, time.UTC).Day())
}

// readWire reads a calendar date. Null is no date.
func (d *Date) readWire(r *wire.Reader) {
	if r.Null() {
		*d = Date{}
		return
	}
	text, ok := r.PlainText()
	if !ok || d.UnmarshalText(text) != nil {
		r.Fallback()
		return
	}
	const day = len("YYYY-MM-DD")
	if len(text) != len(wire.TimeLayout) || string(text[day:]) != "T00:00:00Z" {
		r.Inexact()
	}
}
