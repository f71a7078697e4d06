package internal_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/wire"
)

// FuzzTime reads any text as a date-time: times of RFC 3339 come out the same, and all is in UTC.
func FuzzTime(f *testing.F) {
	for _, seed := range []string{
		"", "2026-11-03T10:20:30Z", "2026-11-03T10:20:30.123456789+11:00", "2026-11-03", "2026-11-03 10:20:30", "2026-11-03T10:20Z",
		"0001-01-01T00:00:00Z", "9999-12-31T23:59:59-12:00", "0000-01-01T00:00:00+12:00", "20261103T102030Z", "2026-02-30T00:00:00Z",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		got, _, ok := wire.ParseTime(text)
		want, wantErr := time.Parse(time.RFC3339, text)
		if wantErr == nil && 0 <= want.UTC().Year() && want.UTC().Year() <= 9999 && want.Format(time.RFC3339Nano) == text {
			require.True(t, ok)
			require.True(t, want.Equal(got))
		}
		if ok {
			require.Equal(t, time.UTC, got.Location())
			_, err := got.MarshalJSON()
			require.NoError(t, err)
		}
	})
}

// A leap second and the end of a day are the moment that follows.
func TestTimesPastTheLast(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"2016-12-31T23:59:60Z": "2017-01-01T00:00:00Z", "2016-12-31T23:59:60.5+00:00": "2017-01-01T00:00:00.5Z",
		"2026-11-03T24:00:00Z": "2026-11-04T00:00:00Z", "2026-12-31T24:00:00.000+11:00": "2026-12-31T13:00:00Z", "2026-11-03T24:00Z": "2026-11-04T00:00:00Z",
		"9999-12-31T24:00:00Z": "9999-12-31T23:59:59Z", "9999-12-31T23:59:60Z": "9999-12-31T23:59:59Z", "9999-12-31T23:00:00-02": "9999-12-31T23:59:59Z",
		"20261103T102030.5+0330": "2026-11-03T06:50:30.5Z", "2026-11-03T9:20z": "2026-11-03T09:20:00Z",
	} {
		got, _, ok := wire.ParseTime(text)
		require.True(t, ok, text)
		require.Equal(t, want, got.Format(time.RFC3339Nano), text)
	}
	for _, text := range []string{"2026-11-03T24:00:01Z", "2026-11-03T24:00:00.5Z", "2026-11-03T24:01:00Z", "2026-11-03T24:00:60Z", "2026-11-03T10:20:61Z", "2026-02-30T24:00:00Z", "0000-01-01T00:00:00+01:00", "20261103", "20261103T10:20", "2026-11-03T1020"} {
		_, _, ok := wire.ParseTime(text)
		require.False(t, ok, text)
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	var w wire.Writer
	w.Text(`{"text":`, "bad \xff")
	w.Text(`,"more":`, "é")
	require.Error(t, w.Err)
}
