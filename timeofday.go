package prepaid

import "github.com/cardprograms/prepaid/internal/ascii"

// isTimeOfDay reports whether s is what follows the day in an ISO 8601 date-time: T or a space, hh:mm, then
// optionally :ss with a fraction, then optionally Z or an offset (+hh, +hhmm, +hh:mm).
func isTimeOfDay(s string) bool {
	if s[0] != 'T' && s[0] != 't' && s[0] != ' ' {
		return false
	}
	s, ok := cutField(s[1:], 23)
	if !ok || s == "" || s[0] != ':' {
		return false
	}
	if s, ok = cutField(s[1:], 59); !ok {
		return false
	}
	if s != "" && s[0] == ':' {
		if s, ok = cutField(s[1:], 60); !ok { // 60 is a leap second
			return false
		}
		if s != "" && (s[0] == '.' || s[0] == ',') {
			if s, ok = cutFraction(s[1:]); !ok {
				return false
			}
		}
	}
	return s == "" || s == "Z" || s == "z" || isOffset(s)
}

// isOffset reports whether s is an offset from UTC.
func isOffset(s string) bool {
	if s[0] != '+' && s[0] != '-' {
		return false
	}
	s, ok := cutField(s[1:], 23)
	if !ok || s == "" {
		return ok
	}
	if s[0] == ':' {
		s = s[1:]
	}
	s, ok = cutField(s, 59)
	return ok && s == ""
}

// cutField removes a number of two digits, at most limit, from the beginning of s.
func cutField(s string, limit int) (rest string, ok bool) {
	if len(s) < 2 || !ascii.IsDigits(s[:2]) || twoDigits(s) > limit {
		return "", false
	}
	return s[2:], true
}

// cutFraction removes one or more digits from the beginning of s.
func cutFraction(s string) (rest string, ok bool) {
	n := 0
	for n < len(s) && ascii.IsDigit(s[n]) {
		n++
	}
	return s[n:], n > 0
}
