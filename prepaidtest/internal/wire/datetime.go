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

const (
	daySeconds    = 24 * 60 * 60
	secondsOf9999 = 253402300799
)

// appendTime appends t in TimeLayout. time.Time's own formatting would take most of the time needed for a page.
func appendTime(to []byte, t time.Time) []byte {
	seconds := t.Unix()
	if seconds < 0 || seconds > secondsOf9999 {
		return t.UTC().AppendFormat(to, TimeLayout)
	}
	year, month, day := dateOf(seconds / daySeconds)
	second := int(seconds % daySeconds)
	return append(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(appendTwo(
		to, year/100, 0), year%100, 0), month, '-'), day, '-'), second/3600, 'T'), second/60%60, ':'), second%60, ':'), 'Z')
}

// appendTwo appends a separator, unless it is 0, and two digits.
func appendTwo(to []byte, n int, separator byte) []byte {
	if separator != 0 {
		to = append(to, separator)
	}
	const digits = "0123456789"
	return append(to, digits[n/10], digits[n%10])
}

// dateOf converts days since 1970 into a Gregorian date. Here a year begins in March, so that the leap day is its last
// day, and five months have 153 days.
func dateOf(days int64) (year, month, day int) {
	days += 719468 // from March of the year 0
	era, ofEra := days/146097, int(days%146097)
	ofCycle := (ofEra - ofEra/1460 + ofEra/36524 - ofEra/146096) / 365
	ofYear := ofEra - (365*ofCycle + ofCycle/4 - ofCycle/100)
	march := (5*ofYear + 2) / 153
	year, month, day = ofCycle+int(era)*400, march+3, ofYear-(153*march+2)/5+1
	if month > 12 {
		year, month = year+1, month-12
	}
	return year, month, day
}
