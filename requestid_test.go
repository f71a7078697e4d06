package prepaid

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const ownRequestID = `^[0-9]{8}-7064-8[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

func TestNewRequestID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[RequestID]bool{}
		var inOrder []RequestID
		for range 1000 {
			id := NewRequestID()
			require.Regexp(t, ownRequestID, string(id))
			require.False(t, seen[id])
			seen[id] = true
			day, ok := id.Time()
			require.True(t, ok)
			require.Equal(t, time.Now().UTC().Truncate(24*time.Hour), day)
			inOrder = append(inOrder, id)
			time.Sleep(24 * time.Hour)
		}
		require.True(t, slices.IsSorted(inOrder), "ids made on different days sort by day")
	})
}

// All bits but day, tag, version and variant must vary.
func TestNewRequestIDIsRandom(t *testing.T) {
	t.Parallel()
	for i := range 36 {
		if i < 15 || i == 18 || i == 23 { // day, tag, version and hyphens
			continue
		}
		digits := map[byte]bool{}
		for range 500 {
			digits[NewRequestID()[i]] = true
		}
		want := 16
		if i == 19 {
			want = 4 // two bits of variant
		}
		require.Len(t, digits, want, "digit %d", i)
	}
}

// The expected ids were computed with another implementation. They must never change: a partner who upgrades
// between two attempts would pay twice.
func TestDeriveRequestIDIsFixed(t *testing.T) {
	t.Parallel()
	payday := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	require.Equal(t, RequestID("20261103-7064-8984-96cd-003f306b64be"), DeriveRequestID(payday, "payroll-2026-11", "emp-7"))
	require.Equal(t, RequestID("20261103-7064-801d-9476-e2ccfe2c87a2"), DeriveRequestID(payday, "ab", "c"))
	require.Equal(t, RequestID("20261103-7064-8faf-a1cf-2f19a7c1129b"), DeriveRequestID(payday, "a", "bc"))
	require.Equal(t, RequestID("20261103-7064-8051-9eae-b079a63aacbb"), DeriveRequestID(payday, "é", ""))
	require.Equal(t, RequestID("19700101-7064-8b19-afd4-907bedf51c30"), DeriveRequestID(time.Unix(0, 0).UTC(), "a"))
}

func TestDeriveRequestIDKeepsPartsApart(t *testing.T) {
	t.Parallel()
	day := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	ids := map[RequestID][]string{}
	for _, parts := range [][]string{
		{"ab", "c"}, {"a", "bc"}, {"abc"}, {"abc", ""}, {"", "abc"}, {"a", "b", "c"}, {"a,b", "c"}, {"a", "b,c"},
		{"c", "ab"}, {"ABC"}, {"abc\x00"}, {"\x00\x00\x00\x00\x00\x00\x00\x01a"}, {"a"}, {strings.Repeat("x", 1000)},
	} {
		id := DeriveRequestID(day, parts...)
		require.Regexp(t, ownRequestID, string(id))
		require.NotContains(t, ids, id, parts)
		ids[id] = parts
		require.Equal(t, id, DeriveRequestID(day, parts...))
		require.NotEqual(t, id, DeriveRequestID(day.AddDate(0, 0, 1), parts...))
	}
	for _, parts := range [][]string{nil, {}, {""}, {"", "", ""}} {
		require.Empty(t, DeriveRequestID(day, parts...))
	}
}

func TestDeriveRequestIDTakesTheWrittenDay(t *testing.T) {
	t.Parallel()
	want := DeriveRequestID(time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), "emp-7")
	for _, offset := range []int{-12, 0, 11, 14} {
		zone := time.FixedZone("", offset*3600)
		for _, hour := range []int{0, 12, 23} {
			require.Equal(t, want, DeriveRequestID(time.Date(2026, 11, 3, hour, 59, 59, 999, zone), "emp-7"))
		}
	}
	require.NotEqual(t, want, DeriveRequestID(time.Date(2026, 11, 3, 0, 0, 0, 0, time.FixedZone("", 3600)).UTC(), "emp-7"))
	made, ok := want.Time()
	require.True(t, ok)
	require.Equal(t, time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), made)
}

func TestDeriveRequestIDOutsideTheYearsOfFourDigits(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for date, want := range map[time.Time]string{
		{}: "00010101-",
		time.Date(0, 12, 31, 0, 0, 0, 0, time.UTC):     "00001231-",
		time.Date(-5000, 5, 9, 0, 0, 0, 0, time.UTC):   "00000101-",
		time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC):  "19691231-",
		time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC): "99991231-",
		time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC):   "99991231-",
	} {
		id := DeriveRequestID(date, "a")
		require.Regexp(t, ownRequestID, string(id))
		require.True(t, strings.HasPrefix(string(id), want), id)
		_, ok := id.Time()
		require.True(t, ok)
		require.True(t, id.expired(now), id)
	}
}

// Only this package's ids carry a day: not a UUIDv7 of the caller's, whatever its age.
func TestRequestIDTime(t *testing.T) {
	t.Parallel()
	const own = "20261103-7064-8984-96cd-003f306b64be"
	for _, id := range []RequestID{own, RequestID(strings.ToUpper(own))} { // some databases write UUIDs in upper case
		day, ok := id.Time()
		require.True(t, ok)
		require.Equal(t, time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC), day)
	}
	for _, id := range []RequestID{
		"", "order-17", RequestID(own[:35]), own + "0", RequestID(strings.ReplaceAll(own, "-", "")), "{" + own + "}",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", // UUIDv7, the example of RFC 9562, A.6
		"01a19eb4-a000-7984-96cd-003f306b64be", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", // UUIDv7, and UUIDv8 of RFC 9562, B.1
		"20261103-7065-8984-96cd-003f306b64be",                                         // another tag
		"20261103-7064-7984-96cd-003f306b64be", "20261103-7064-4984-96cd-003f306b64be", // other versions
		"20261103-7064-8984-16cd-003f306b64be", "20261103-7064-8984-d6cd-003f306b64be", // other variants
		"20261131-7064-8984-96cd-003f306b64be", "20260229-7064-8984-96cd-003f306b64be", "2026110a-7064-8984-96cd-003f306b64be", // no days
		"+0261103-7064-8984-96cd-003f306b64be", " 2261103-7064-8984-96cd-003f306b64be",
		"20261103-7064-8g84-96cd-003f306b64be", "20261103-7064-8984-96cd-003f306b64bg",
		"20261103_7064-8984-96cd-003f306b64be", "20261103-7064-8984-96cd_003f306b64be", "------------------------------------",
	} {
		made, ok := id.Time()
		require.False(t, ok, string(id))
		require.Zero(t, made)
		require.False(t, id.expired(time.Now()), string(id))
	}
}

func TestRequestIDExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(13 * time.Hour)
		id := NewRequestID()
		require.False(t, id.expired(time.Now()))
		time.Sleep(requestIDMaxAge - 13*time.Hour) // of the day, which began 13 hours before the id was made
		require.False(t, id.expired(time.Now()))
		time.Sleep(time.Millisecond)
		require.True(t, id.expired(time.Now()))
	})
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	require.False(t, DeriveRequestID(now.AddDate(0, 0, 7), "a").expired(now))
	require.True(t, DeriveRequestID(now.AddDate(0, 0, 8), "a").expired(now)) // would outlive the service's memory
	require.False(t, DeriveRequestID(now.AddDate(0, 0, -21), "a").expired(now))
	require.True(t, DeriveRequestID(now.AddDate(0, 0, -22), "a").expired(now)) // midnight was 9 hours before
	require.Less(t, requestIDMaxAge+requestIDMaxAhead, 30*24*time.Hour)
	require.False(t, RequestID("order-17").expired(now))
}

func FuzzRequestIDTime(f *testing.F) {
	f.Add("20261103-7064-8984-96cd-003f306b64be")
	f.Add("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	f.Add("------------------------------------")
	f.Fuzz(func(t *testing.T, s string) {
		day, ok := RequestID(s).Time()
		if ok {
			require.Regexp(t, ownRequestID, strings.ToLower(s))
			require.True(t, strings.HasPrefix(string(formatRequestID(day, [10]byte{})), s[:13]))
		}
	})
}
