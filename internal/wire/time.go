package wire

import (
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// TimeLayout is the reference's date-time form, in UTC.
const TimeLayout = "2006-01-02T15:04:05Z"

// ParseTime reads ISO 8601 with or without fraction and offset. A time without an offset is in UTC. "" is the zero time. A leap
// second (:60) and the end of a day (24:00:00) count as the moment that follows.
func ParseTime(text string) (time.Time, bool) {
	if text == "" {
		return time.Time{}, true
	}
	for _, layout := range [...]string{
		time.RFC3339, "2006-01-02T15:04:05", "2006-01-02 15:04:05Z07:00", "2006-01-02 15:04:05",
		"2006-01-02T15:04:05Z0700", "2006-01-02T15:04Z07:00", "2006-01-02",
	} {
		if t, err := time.Parse(layout, text); err == nil {
			return t.UTC(), true
		}
	}
	const second, end = len("2006-01-02T15:04:"), len("2006-01-02T15:04:05")
	if len(text) >= end && text[second:end] == "60" {
		t, ok := ParseTime(text[:second] + "59" + text[end:])
		return t.Add(time.Second), ok
	}
	if begin, ok := EndOfDay(text); ok {
		t, ok := ParseTime(begin)
		return t.Add(24 * time.Hour), ok
	}
	return time.Time{}, false
}

// EndOfDay returns the beginning of the same day if text is the end of a day (24:00, seconds and fraction zero). Otherwise it
// returns text. It checks nothing else.
func EndOfDay(text string) (begin string, ok bool) {
	const clock, minute = len("2006-01-02T"), len("2006-01-02T15:04")
	if len(text) < minute || text[clock:minute] != "24:00" {
		return text, false
	}
	if zone := strings.TrimLeft(text[minute:], ":.,0"); zone != "" && !strings.ContainsRune("Zz+-", rune(zone[0])) {
		return text, false
	}
	return text[:clock] + "00:00" + text[minute:], true
}

// plainTime reads a date-time in the form of TimeLayout; it returns false for any other form.
func plainTime(b []byte) (time.Time, bool) {
	if len(b) != len(TimeLayout) || b[4] != '-' || b[7] != '-' || b[10] != 'T' || b[13] != ':' || b[16] != ':' || b[19] != 'Z' {
		return time.Time{}, false
	}
	for _, i := range [...]int{0, 1, 2, 3, 5, 6, 8, 9, 11, 12, 14, 15, 17, 18} {
		if !ascii.IsDigit(b[i]) {
			return time.Time{}, false
		}
	}
	two := func(i int) int { return int(b[i]-'0')*10 + int(b[i+1]-'0') }
	year, month, day := two(0)*100+two(2), two(5), two(8)
	hour, minute, second := two(11), two(14), two(17)
	if year == 0 || month == 0 || month > 12 || day == 0 || hour > 23 || minute > 59 || second > 59 {
		return time.Time{}, false
	}
	t := time.Unix(int64(daysSince1970(year, month, day)*24+hour)*3600+int64(minute*60+second), 0).UTC()
	return t, day <= 28 || t.Day() == day
}

// daysSince1970 counts the days to a date of the Gregorian calendar. It is part of time.Date, without the location. Years begin in
// March, so that a leap day is the last of its year.
func daysSince1970(year, month, day int) int {
	year, month = year-(14-month)/12, (month+9)%12
	return 365*year + year/4 - year/100 + year/400 + (153*month+2)/5 + day - 719469
}
