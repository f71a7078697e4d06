package main

import (
	"bytes"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func windowOf(t *testing.T, from, to, zone string) window {
	t.Helper()
	opts := options{zone: zone}
	var err error
	opts.from, err = prepaid.ParseDate(from)
	require.NoError(t, err)
	opts.to, err = prepaid.ParseDate(to)
	require.NoError(t, err)
	w, err := opts.window(time.Date(2099, time.January, 1, 0, 0, 0, 0, time.UTC)) // all days are over
	require.NoError(t, err)
	return w
}

func TestWindowDefaults(t *testing.T) {
	now := time.Date(2026, time.September, 1, 1, 0, 0, 0, time.UTC)
	w, err := options{zone: "UTC"}.window(now)
	require.NoError(t, err)
	require.Equal(t, "2026-03-01", w.first.String())
	require.Equal(t, "2026-08-31", w.last.String())
	w, err = options{zone: "America/New_York"}.window(now) // still in August there
	require.NoError(t, err)
	require.Equal(t, "2026-08-30", w.last.String())
}

func TestWindowEdges(t *testing.T) {
	w := windowOf(t, "2026-10-03", "2026-10-04", "Australia/Sydney") // the second day has 23 hours
	require.Equal(t, 47*time.Hour, w.end().Sub(w.from()))
}

func TestAccountsOfTwoCurrencies(t *testing.T) {
	s := &summary{seen: map[prepaid.AccountID]bool{}}
	for _, currency := range []string{"AUD", "", "NZD"} {
		require.NoError(t, s.add(&statement{currency: currency}))
	}
	require.Len(t, s.problems, 1)
	require.Equal(t, "is in another currency than the accounts before it", s.problems[0].problem)
}

// Today is not over; in Kiritimati it is tomorrow.
func TestToday(t *testing.T) {
	for zone, day := range map[string]string{"UTC": "2026-11-30", "Pacific/Kiritimati": "2026-12-01"} {
		f := service(t, atNovember(prepaidtest.PageSizes{}))
		f.load(t, history)
		o := runIn(t, t.TempDir(), "-from", "2026-09-01", "-to", day, "-zone", zone)
		require.Zero(t, o.code, o.errOut)
		require.Contains(t, o.out, "\nThe last day is today and not over: ")
		_, err := options{to: prepaid.Date{Year: 2026, Month: time.December, Day: 2}, zone: zone}.window(lastOfNovember())
		require.ErrorIs(t, err, errSetup)
	}
	f := service(t, atNovember(prepaidtest.PageSizes{}))
	require.NotContains(t, october(t, f).out, "not over")
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	var errOut bytes.Buffer
	require.Equal(t, 1, run(t.Context(), time.Now(), []string{"-dir", t.TempDir()}, full{}, &errOut))
	require.Equal(t, "reconcile: the file was written, but the output could not be: no space left on device\n", errOut.String())
}
