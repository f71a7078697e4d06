package prepaid

import (
	"database/sql"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
	_ "time/tzdata" // the zones below, if the system has none

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

var _ sql.Scanner = (*Date)(nil)

func location(t *testing.T, name string) *time.Location {
	t.Helper()
	loc, err := time.LoadLocation(name)
	require.NoError(t, err)
	return loc
}

func TestParseDate(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]Date{
		"2026-11-03": {2026, time.November, 3},
		"1990-05-01": {1990, time.May, 1},
		"2024-02-29": {2024, time.February, 29},
		"2000-02-29": {2000, time.February, 29},
		"0001-01-01": {1, time.January, 1},
		"9999-12-31": {9999, time.December, 31},
		"1582-10-10": {1582, time.October, 10},
	} {
		got, err := ParseDate(in)
		require.NoError(t, err, in)
		require.Equal(t, want, got)
		require.True(t, got.valid())
		require.Equal(t, in, got.String())
	}
	for _, in := range append(badDates(), "", "2026-11-03T00:00:00Z", "2026-11-03 ", "2026-11-03\x00") {
		got, err := ParseDate(in)
		require.ErrorIs(t, err, errDateSyntax, "%q", in)
		require.NotContains(t, err.Error(), "2026")
		require.Zero(t, got, "%q", in)
	}
}

// badDates are neither dates nor date-times.
func badDates() []string {
	return []string{
		"2026", "2026-11", "2026-11-3", "2026-1-03", "26-11-03", "02026-11-03", "-2026-11-03", "+2026-11-03",
		"20261103", "2026/11/03", "03-11-2026", "2026-11-0x", "2O26-11-03", "2026-1l-03", " 2026-11-03",
		"2026-02-30", "2026-02-29", "1900-02-29", "2026-04-31", "2026-00-01", "2026-13-01", "2026-01-00", "2026-01-32",
		"0000-01-01", "0000-00-00", "2026-11-٣", "null", "2026-W45-2", "2026-307",
	}
}

func TestDateUnmarshalTextKeepsTheWrittenDay(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"2026-11-03",
		"2026-11-03T00:00:00Z",
		"2026-11-03T23:59:59Z",
		"2026-11-03T23:59:59.999999999Z",
		"2026-11-03T00:00:00+14:00",
		"2026-11-03T23:59:59-12:00",
		"2026-11-03T00:30:00.5+11:00",
		"2026-11-03T00:30:00+1100",
		"2026-11-03T00:30:00+11",
		"2026-11-03T00:30:00,25-03:30",
		"2026-11-03T10:20:30",
		"2026-11-03T10:20",
		"2026-11-03T10:20Z",
		"2026-11-03T10:20+11:00",
		"2026-11-03T23:59:60Z",
		"2026-11-02T24:00:00Z", // the midnight that follows
		"2026-11-02T24:00",
		"2026-11-03t10:20:30z",
		"2026-11-03 10:20:30",
		"2026-11-03 10:20:30+00",
		"20261103T102030Z",
		"20261103t102030,5+0330",
		"20261103 1020",
	} {
		var d Date
		require.NoError(t, d.UnmarshalText([]byte(in)), in)
		require.Equal(t, Date{2026, time.November, 3}, d, in)
		var at time.Time // what is a day is a time too
		require.NoError(t, jsonv2.Unmarshal([]byte(`"`+in+`"`), &at, decodeOptions), in)
		require.Less(t, at.Sub(d.Time(nil)).Abs(), 36*time.Hour, in)
	}
	for _, in := range append(badDates(),
		"2026-11-03T", "2026-11-03 ", "2026-11-03Z", "2026-11-03x", "2026-11-03T1", "2026-11-03T10", "2026-11-03T10:",
		"2026-11-03T10:2", "2026-11-03T1020", "2026-11-03T10:20:", "2026-11-03T10:20:3", "2026-11-03T10:20:30.",
		"2026-11-03T10:20:30.Z", "2026-11-03T10:20:30ZZ", "2026-11-03T10:20:30x", "2026-11-03T24:00:01Z", "2026-11-03T24:00:00.5Z", "2026-11-03T24:00:60Z", "20261103T10:20Z", "20261103T1020:30",
		"2026-11-03T10:60:00Z", "2026-11-03T10:20:61Z", "2026-11-03T10:20:30+", "2026-11-03T10:20:30+1",
		"2026-11-03T10:20:30+24:00", "2026-11-03T10:20:30+11:", "2026-11-03T10:20:30+11:6", "2026-11-03T10:20:30+11:60",
		"2026-11-03T10:20:30+11:000", "2026-11-03T10:20:30 +11:00", "2026-11-0310:20:30", "2026-02-30T00:00:00Z",
	) {
		d := Date{1990, time.May, 1}
		require.ErrorIs(t, d.UnmarshalText([]byte(in)), errDateSyntax, "%q", in)
		require.Equal(t, Date{1990, time.May, 1}, d, "%q", in)
	}
	var last Date
	require.NoError(t, last.UnmarshalText([]byte("9999-12-31T24:00:00Z")))
	require.Equal(t, "9999-12-31", last.String())
	d := Date{1990, time.May, 1}
	require.NoError(t, d.UnmarshalText(nil))
	require.Zero(t, d)
}

func TestDateValid(t *testing.T) {
	t.Parallel()
	for _, d := range []Date{
		{}, {2026, 0, 1}, {2026, 13, 1}, {2026, -1, 1}, {2026, 1, 0}, {2026, 1, -1}, {2026, 1, 32}, {2026, 2, 29}, {2026, 2, 30},
		{0, 1, 1}, {-1, 1, 1}, {10000, 1, 1},
	} {
		require.False(t, d.valid(), "%#v", d)
		if d.IsZero() {
			continue
		}
		_, err := d.MarshalText()
		require.ErrorIs(t, err, errDateSyntax)
		_, err = d.Value()
		require.ErrorIs(t, err, errDateSyntax)
		eachJSON(t, func(t *testing.T, lib jsonLibrary) {
			_, err := lib.marshal(d)
			require.ErrorIs(t, err, errDateSyntax)
		})
	}
	for day := time.Date(1899, 12, 1, 0, 0, 0, 0, time.UTC); day.Year() < 1905; day = day.AddDate(0, 0, 1) {
		require.True(t, DateOf(day).valid())
	}
}

func TestDateOfAndTime(t *testing.T) {
	t.Parallel()
	sydney := location(t, "Australia/Sydney")
	require.Equal(t, Date{2026, time.November, 3}, DateOf(time.Date(2026, 11, 3, 0, 0, 0, 0, sydney)))
	require.Equal(t, Date{2026, time.November, 2}, DateOf(time.Date(2026, 11, 3, 0, 0, 0, 0, sydney).UTC()))
	require.Equal(t, Date{}, DateOf(time.Time{}))

	d := Date{2026, time.November, 3}
	require.Equal(t, time.Date(2026, 11, 3, 0, 0, 0, 0, sydney), d.Time(sydney))
	require.Equal(t, time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), d.Time(nil))
	require.True(t, Date{}.Time(sydney).IsZero())

	// Clocks went from 00:00 to 01:00, so the day began at 01:00.
	for zone, day := range map[string]Date{
		"America/Sao_Paulo": {2018, time.November, 4},
		"Asia/Beirut":       {2021, time.March, 28},
		"America/Havana":    {2024, time.March, 10},
	} {
		got := day.Time(location(t, zone))
		require.Equal(t, day, DateOf(got), zone)
		require.Equal(t, 1, got.Hour(), zone)
		require.Equal(t, day.Day-1, got.Add(-time.Nanosecond).Day(), zone)
	}
	for _, zone := range []string{"Australia/Sydney", "America/New_York", "Pacific/Kiritimati", "Pacific/Pago_Pago", "UTC"} {
		loc := location(t, zone)
		for at := time.Date(2024, 1, 1, 12, 0, 0, 0, time.UTC); at.Year() < 2025; at = at.AddDate(0, 0, 1) {
			require.Equal(t, DateOf(at), DateOf(DateOf(at).Time(loc)), zone)
		}
	}
}

func TestDateCompare(t *testing.T) {
	t.Parallel()
	sorted := []Date{
		{}, {1, 1, 1}, {2025, 12, 31}, {2026, 1, 31}, {2026, 2, 1}, {2026, 2, 2}, {2027, 1, 1},
	}
	for i, a := range sorted {
		for j, b := range sorted {
			require.Equal(t, i < j, a.Before(b))
			require.Equal(t, i > j, a.After(b))
			require.Equal(t, i == j, a.Compare(b) == 0)
			require.Equal(t, i == j, a == b)
		}
	}
	shuffled := []Date{sorted[4], sorted[6], sorted[0], sorted[2], sorted[1], sorted[5], sorted[3]}
	slices.SortFunc(shuffled, Date.Compare)
	require.Equal(t, sorted, shuffled)
	require.True(t, Date{}.IsZero())
	require.False(t, Date{Day: 1}.IsZero())
}

func TestDateSQL(t *testing.T) {
	t.Parallel()
	d := Date{1990, time.May, 1}
	value, err := d.Value()
	require.NoError(t, err)
	require.Equal(t, "1990-05-01", value)
	value, err = Date{}.Value()
	require.NoError(t, err)
	require.Nil(t, value)

	for _, src := range []any{
		"1990-05-01", []byte("1990-05-01"), "1990-05-01 00:00:00", "1990-05-01T00:00:00Z",
		time.Date(1990, 5, 1, 0, 0, 0, 0, time.UTC), time.Date(1990, 5, 1, 23, 0, 0, 0, location(t, "Australia/Sydney")),
	} {
		var got Date
		require.NoError(t, got.Scan(src))
		require.Equal(t, d, got)
	}
	for _, src := range []any{1990, int64(19900501), 1.5, true, "1990-02-30", []byte("x")} {
		require.ErrorIs(t, d.Scan(src), errDateSyntax)
	}
	require.Equal(t, Date{1990, time.May, 1}, d)
	require.NoError(t, d.Scan(nil))
	require.Zero(t, d)
}

var dateForm = regexp.MustCompile(`^(\d{4}-\d\d-\d\d([Tt ]\d\d?:\d\d(:\d\d([.,]\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)?)?|\d{8}[Tt ]\d{4}(\d\d([.,]\d+)?)?([Zz]|[+-]\d\d(:?\d\d)?)?)$`)

func FuzzDate(f *testing.F) {
	for _, seed := range []string{
		"", "2026-11-03", "2026-11-03T00:00:00Z", "2026-02-30", "2024-02-29T10:20:30.123+11:00", "0000-00-00",
		"2026-11-03T10:20", "2026-11-03 10:20:30,5-0330", "9999-12-31T23:59:60z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		var d Date
		if err := d.UnmarshalText([]byte(s)); err != nil {
			require.ErrorIs(t, err, errDateSyntax)
			// Package time also accepts an hour of one digit and other non-standard forms.
			parsed, err := time.Parse(time.RFC3339Nano, s)
			require.True(t, err != nil || parsed.Format(time.RFC3339Nano) != s || s[:4] == "0000", "a real date-time was refused")
			return
		}
		if s == "" {
			require.Zero(t, d)
			return
		}
		require.Regexp(t, dateForm, s)
		written := strings.ReplaceAll(s, "-", "")[:8]
		parsed, err := time.Parse("20060102", written)
		require.NoError(t, err)
		year, month, day := parsed.Date()
		if begun := (Date{year, month, day}); begun != d { // the end of a day is the next day
			require.Contains(t, s, "24")
			require.Equal(t, DateOf(parsed.AddDate(0, 0, 1)), d)
		}
		text, err := d.MarshalText()
		require.NoError(t, err)
		var back Date
		require.NoError(t, back.UnmarshalText(text))
		require.Equal(t, d, back)
	})
}
