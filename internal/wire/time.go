package wire

import (
	"strings"
	"time"

	"github.com/cardprograms/prepaid/internal/ascii"
)

// TimeLayout is the reference's date-time form, in UTC.
const TimeLayout = "2006-01-02T15:04:05Z"

// ParseTime reads ISO 8601: a day, or a date-time with or without seconds, fraction and offset, also in the basic form (without dashes
// and colons), and with a space or small letters. It returns the moment (in UTC if there is no offset) and the day as written. "" is
// the zero time. A leap second (:60) and the end of a day (24:00) are the moment that follows. A moment after the year 9999 could not
// be written: it becomes the last second of that year.
func ParseTime(text string) (moment, day time.Time, ok bool) {
	if text == "" {
		return time.Time{}, time.Time{}, true
	}
	if moment, ok = plainTime(text); ok {
		return moment, moment, true
	}
	p := timeParser{rest: text, ok: true}
	year := p.number(4, 9999)
	extended := p.skip("-")
	month := time.Month(p.number(2, 12))
	p.need(!extended || p.skip("-"))
	day = time.Date(year, month, p.number(2, 31), 0, 0, 0, 0, time.UTC)
	p.need(day.Month() == month)
	moment = day
	if p.rest != "" || !extended {
		p.need(p.skip("Tt "))
		end := strings.HasPrefix(p.rest, "24")
		clock := p.clock(extended)
		moment = day.Add(clock - p.offset())
		if end {
			p.need(clock == 24*time.Hour)
			day = day.AddDate(0, 0, 1)
		}
	}
	if !p.ok || p.rest != "" || moment.Year() < 0 {
		return time.Time{}, time.Time{}, false
	}
	last := time.Date(9999, time.December, 31, 23, 59, 59, 0, time.UTC)
	if moment.Year() > last.Year() {
		moment = last
	}
	if day.After(last) {
		day = last
	}
	return moment, day, true
}

// timeParser reads the parts of a date-time.
type timeParser struct {
	rest string
	ok   bool
}

func (p *timeParser) need(ok bool) { p.ok = p.ok && ok }

// skip skips one of the characters, if it is next.
func (p *timeParser) skip(characters string) bool {
	if p.rest == "" || strings.IndexByte(characters, p.rest[0]) < 0 {
		return false
	}
	p.rest = p.rest[1:]
	return true
}

func (p *timeParser) digit() bool { return p.rest != "" && ascii.IsDigit(p.rest[0]) }

// number reads so many digits of a number that is at most limit.
func (p *timeParser) number(digits, limit int) (value int) {
	for range digits {
		if p.need(p.digit()); p.ok {
			value = 10*value + int(p.rest[0]-'0')
			p.rest = p.rest[1:]
		}
	}
	p.need(value <= limit)
	return value
}

// clock reads the time since midnight. An hour may have one digit before a colon.
func (p *timeParser) clock(extended bool) time.Duration {
	if len(p.rest) > 1 && p.rest[1] == ':' {
		p.rest = "0" + p.rest
	}
	clock := time.Duration(p.number(2, 24)) * time.Hour
	p.need(!extended || p.skip(":"))
	clock += time.Duration(p.number(2, 59)) * time.Minute
	if extended && !p.skip(":") || !extended && !p.digit() {
		return clock
	}
	clock += time.Duration(p.number(2, 60)) * time.Second
	if p.skip(".,") {
		p.need(p.digit())
		for unit := time.Second / 10; p.ok && p.digit(); unit /= 10 {
			clock += time.Duration(p.number(1, 9)) * unit
		}
	}
	return clock
}

// offset reads the offset from UTC.
func (p *timeParser) offset() time.Duration {
	if p.rest == "" || p.skip("Zz") {
		return 0
	}
	sign := 1
	if p.rest[0] == '-' {
		sign = -1
	}
	p.need(p.skip("+-"))
	hours, minutes := p.number(2, 23), 0
	if p.skip(":") || p.digit() {
		minutes = p.number(2, 59)
	}
	return time.Duration(sign*(60*hours+minutes)) * time.Minute
}

// plainTime reads a date-time in the form of TimeLayout; it returns false for any other form.
func plainTime(b string) (time.Time, bool) {
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
