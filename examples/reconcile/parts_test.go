package main

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
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
	require.Equal(t, "2026-08-31", w.last().String())
	w, err = options{zone: "America/New_York"}.window(now) // where it is still August
	require.NoError(t, err)
	require.Equal(t, "2026-08-30", w.last().String())
}

func TestWindowEdges(t *testing.T) {
	w := windowOf(t, "2026-10-03", "2026-10-04", "Australia/Sydney") // the second day has 23 hours
	require.Equal(t, 2, w.days)
	require.Equal(t, 47*time.Hour, w.end().Sub(w.from()))
	require.Equal(t, 0, w.index(w.from()))
	require.Equal(t, 0, w.index(w.from().Add(24*time.Hour-time.Second)))
	require.Equal(t, 1, w.index(w.from().Add(24*time.Hour)))
	require.Equal(t, 1, w.index(w.end().Add(-time.Second)))
	require.Equal(t, 2, w.index(w.end()))
}

func TestSeries(t *testing.T) {
	amount := prepaid.MustAmount
	s := newSeries(windowOf(t, "2026-07-01", "2026-07-05", "UTC"), amount("7"))
	s.record(1, amount("5"))
	s.record(1, amount("4"))
	s.record(3, amount("9"))
	s.finish()
	require.Equal(t, []prepaid.Amount{amount("7"), amount("4"), amount("4"), amount("9"), amount("9")}, s.points)
	require.NoError(t, s.add(s))
	require.Equal(t, amount("14"), s.opening)
	require.Equal(t, amount("18"), s.last)
}

// However long a window is, the kept data is bounded, and nothing is lost at its end.
func TestSeriesOfYears(t *testing.T) {
	w := windowOf(t, "1990-01-01", "2026-12-31", "UTC")
	s := newSeries(w, prepaid.Amount{})
	require.LessOrEqual(t, len(s.points), maxPoints)
	s.record(w.days-1, prepaid.Cents(1))
	s.finish()
	require.Equal(t, prepaid.Cents(1), s.points[len(s.points)-1])
	require.True(t, s.points[len(s.points)-2].IsZero())
	require.Equal(t, w.last(), w.day(s.lastDay(w, len(s.points)-1)))
	require.LessOrEqual(t, len(tabled(w, []*series{s})), tabledDates)
	lines := tabled(w, []*series{s})
	require.Equal(t, w.last().String(), lines[len(lines)-1].Date)
}

func TestScale(t *testing.T) {
	for _, values := range [][]float64{
		{}, {0}, {1}, {0.01}, {99}, {100}, {101}, {-5}, {-3, 80}, {-1000, 1}, {123456.78}, {4.2e9}, {19}, {20}, {39}, {49.9},
	} {
		low, high, step := scale(values)
		parts := (high - low) / step
		require.InDelta(t, math.Round(parts), parts, 1e-6, values)
		require.GreaterOrEqual(t, parts, 2.0-1e-9, values)
		require.LessOrEqual(t, parts, 6.0+1e-9, values)
		require.LessOrEqual(t, low, 0.0, values)
		for _, value := range values {
			require.LessOrEqual(t, low, value)
			require.GreaterOrEqual(t, high, value)
		}
	}
}

func TestLabels(t *testing.T) {
	for want, got := range map[string]string{
		"0": short(0, 500), "1,500": short(1500, 500), "25k": short(25e3, 25e3), "2.5k": short(2500, 2500), "-40k": short(-4e4, 2e4),
		"1.5m": short(1.5e6, 1e6), "0.05": short(0.05, 0.05), "-1,000": short(-1000, 500),
	} {
		require.Equal(t, want, got)
	}
	for want, got := range map[string]string{
		"0.00": money(prepaid.Amount{}), "-1,234.50": money(prepaid.MustAmount("-1234.5")), "999.00": money(prepaid.Cents(99900)),
		"1,000,000.125": money(prepaid.MustAmount("1000000.125")),
	} {
		require.Equal(t, want, got)
	}
	require.Equal(t, "\u22125.00", typographic("-5.00"))
}

func TestDayMarks(t *testing.T) {
	labels := func(from, to string) string {
		var all []string
		for _, m := range dayMarks(windowOf(t, from, to, "UTC")) {
			require.GreaterOrEqual(t, m.At, 0.0)
			require.Less(t, m.At, 100.0)
			all = append(all, m.Label)
		}
		return strings.Join(all, " | ")
	}
	require.Equal(t, "31 Dec", labels("2026-12-31", "2026-12-31"))
	require.Equal(t, "1 Jul | 6 Jul | 11 Jul | 16 Jul | 21 Jul | 26 Jul | 31 Jul", labels("2026-07-01", "2026-07-31"))
	require.Equal(t, "Oct | Nov | Dec | Jan 2027 | Feb", labels("2026-09-15", "2027-02-15"))
	require.Equal(t, "Jan 2026 | Mar | May | Jul | Sep | Nov", labels("2026-01-01", "2026-12-31"))
	require.Equal(t, "2021 | 2022 | 2023 | 2024 | 2025 | 2026", labels("2020-02-01", "2026-12-31"))
	for years := range 40 {
		require.LessOrEqual(t, strings.Count(labels("1980-01-01", fmt.Sprint(1981+years, "-06-30")), "|"), 12)
	}
}

// All that do not reconcile are on the page, before those that moved most.
func TestListing(t *testing.T) {
	var all []*statement
	for n := range 3 * listed {
		s := &statement{ID: prepaid.AccountID(fmt.Sprintf("EA%04d", n)), Credits: prepaid.Cents(int64(n))}
		if n%2 == 0 {
			s.Problem = "is off"
		}
		all = append(all, s)
	}
	lines := listing(all)
	require.Len(t, lines, 150+listed)
	require.Equal(t, prepaid.AccountID("EA0298"), lines[0].ID)
	require.Equal(t, prepaid.AccountID("EA0299"), lines[150].ID)
	require.Len(t, listing(all[:3]), 3)
	require.Empty(t, listing(nil))
	require.Len(t, listing([]*statement{{Problem: "is off"}}), 1)
}

func TestAccountsOfTwoCurrencies(t *testing.T) {
	w := windowOf(t, "2026-07-01", "2026-07-01", "UTC")
	s := newSummary(w)
	for _, currency := range []string{"AUD", "", "NZD"} {
		require.NoError(t, s.add(&statement{Currency: currency}, newSeries(w, prepaid.Amount{})))
	}
	require.Equal(t, 1, s.faulty)
	require.Equal(t, "is in another currency than the accounts before it", s.statements[2].Problem)
}

// The made-up program looks the same whenever it is run: about as much history, and no card below zero.
func TestMakeUp(t *testing.T) {
	for n := range 20 {
		now := time.Date(2026, time.January, 1, 0, 0, 0, 0, time.UTC).Add(time.Duration(n) * 401 * time.Hour)
		items := 0
		document := makeUp(now)
		require.Len(t, document.Accounts, madeUpCards+1)
		for _, account := range document.Accounts {
			var balance prepaid.Amount
			for _, item := range account.Transactions {
				change, err := item.Amount.Sub(item.Fee)
				require.NoError(t, err)
				balance, err = balance.Add(change)
				require.NoError(t, err)
				require.GreaterOrEqual(t, balance.Sign(), 0, account.ID)
				require.False(t, item.OccurredAt.After(now))
			}
			items += len(account.Transactions)
		}
		require.InDelta(t, 14_500, items, 2500)
	}
}

// Today is not over, and in Kiritimati it is tomorrow.
func TestToday(t *testing.T) {
	for zone, day := range map[string]string{"UTC": "2026-11-30", "Pacific/Kiritimati": "2026-12-01"} {
		f := service(t, atNovember())
		f.load(t, history)
		o := runIn(t, t.TempDir(), "-from", "2026-09-01", "-to", day, "-zone", zone)
		require.Zero(t, o.code, o.errOut)
		require.Contains(t, o.out, "\nThe last day is today and not over: ")
		_, err := options{to: prepaid.Date{Year: 2026, Month: time.December, Day: 2}, zone: zone}.window(lastOfNovember())
		require.ErrorIs(t, err, errSetup)
	}
	f := service(t, atNovember())
	require.NotContains(t, october(t, f).out, "not over")
}

// full is a disk with no room.
type full struct{}

func (full) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

func TestOutputThatCannotBeWritten(t *testing.T) {
	var errOut bytes.Buffer
	require.Equal(t, 1, run(t.Context(), []string{"-dir", t.TempDir()}, full{}, &errOut))
	require.Equal(t, "reconcile: the files were written, but the output could not be: no space left on device\n", errOut.String())
}
