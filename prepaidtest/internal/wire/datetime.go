package wire

import (
	"errors"
	"strings"
	"time"
)

// TimeLayout is the form of date-times in responses (section 1).
const TimeLayout = "2006-01-02T15:04:05Z"

// DateTime is a date-time in the reference's form.
type DateTime time.Time

// MarshalJSON writes whole seconds in UTC.
func (s DateTime) MarshalJSON() ([]byte, error) {
	return []byte(`"` + s.String() + `"`), nil
}

// String prints the wire form.
func (s DateTime) String() string { return time.Time(s).UTC().Format(TimeLayout) }

// ParseTime reads a date-time in UTC. It allows a fraction of a second, which JavaScript always writes.
func ParseTime(text string, lenient bool) (time.Time, error) {
	if at, err := time.Parse(time.RFC3339, text); lenient && err == nil {
		return at.UTC(), nil
	}
	local, utc := strings.CutSuffix(text, "Z")
	if !utc {
		local, utc = strings.CutSuffix(text, "+00:00")
	}
	const layout = "2006-01-02T15:04:05"
	whole, _, _ := strings.Cut(local, ".") // for a check: time.Parse also accepts a comma, and an hour of one digit
	at, err := time.Parse(layout, local)
	if err != nil || !utc || len(whole) != len(layout) {
		return time.Time{}, errors.New("must be a date-time in UTC of the form YYYY-MM-DDThh:mm:ssZ")
	}
	return at, nil
}
