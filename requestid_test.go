package prepaid

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

const uuidv7 = `^[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`

func TestNewRequestID(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		seen := map[RequestID]bool{}
		var inOrder []RequestID
		for range 1000 {
			id := NewRequestID()
			require.Regexp(t, uuidv7, string(id))
			require.False(t, seen[id])
			seen[id] = true
			made, ok := id.Time()
			require.True(t, ok)
			require.True(t, made.Equal(time.Now()))
			require.Equal(t, time.UTC, made.Location())
			inOrder = append(inOrder, id)
			time.Sleep(time.Millisecond)
		}
		require.True(t, slices.IsSorted(inOrder), "ids made at different times sort by time")
	})
}

// All bits but version, variant and time must vary.
func TestNewRequestIDIsRandom(t *testing.T) {
	t.Parallel()
	for i := range 36 {
		if i < 15 || i == 18 || i == 23 { // time, version and hyphens
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
	require.Equal(t, RequestID("01a19eb4-a000-7984-96cd-003f306b64be"), DeriveRequestID(payday, "payroll-2026-11", "emp-7"))
	require.Equal(t, RequestID("01a19eb4-a000-701d-9476-e2ccfe2c87a2"), DeriveRequestID(payday, "ab", "c"))
	require.Equal(t, RequestID("01a19eb4-a000-7faf-a1cf-2f19a7c1129b"), DeriveRequestID(payday, "a", "bc"))
	require.Equal(t, RequestID("01a19eb4-a000-7051-9eae-b079a63aacbb"), DeriveRequestID(payday, "é", ""))
	require.Equal(t, RequestID("00000000-0000-7b19-afd4-907bedf51c30"), DeriveRequestID(time.Unix(0, 0).UTC(), "a"))
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
		require.Regexp(t, uuidv7, string(id))
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

func TestDeriveRequestIDOutsideTheTimesOfUUIDs(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for _, date := range []time.Time{{}, time.Date(1969, 12, 31, 0, 0, 0, 0, time.UTC), time.Date(-5000, 1, 1, 0, 0, 0, 0, time.UTC)} {
		id := DeriveRequestID(date, "a")
		require.Regexp(t, uuidv7, string(id))
		made, ok := id.Time()
		require.True(t, ok)
		require.True(t, made.Equal(time.Unix(0, 0)))
		require.True(t, id.expired(now))
	}
	far := DeriveRequestID(time.Date(99999, 1, 1, 0, 0, 0, 0, time.UTC), "a")
	require.Regexp(t, "^ffffffff-ffff-7", string(far))
	made, ok := far.Time()
	require.True(t, ok)
	require.Equal(t, int64(1<<48-1), made.UnixMilli())
}

func TestRequestIDTime(t *testing.T) {
	t.Parallel()
	made, ok := RequestID("017F22E2-79B0-7CC3-98C4-DC0C0C07398F").Time() // the example of RFC 9562, A.6
	require.True(t, ok)
	require.Equal(t, time.Date(2022, 2, 22, 19, 22, 22, 0, time.UTC), made)
	for _, id := range []RequestID{
		"", "order-17", "017f22e2-79b0-7cc3-98c4-dc0c0c07398", "017f22e2-79b0-7cc3-98c4-dc0c0c07398f0",
		"017f22e279b07cc398c4dc0c0c07398f", "{017f22e2-79b0-7cc3-98c4-dc0c0c07398f}",
		"017f22e2-79b0-4cc3-98c4-dc0c0c07398f", "017f22e2-79b0-1cc3-98c4-dc0c0c07398f", // other versions
		"017f22e2-79b0-7cc3-18c4-dc0c0c07398f", "017f22e2-79b0-7cc3-d8c4-dc0c0c07398f", // other variants
		"017g22e2-79b0-7cc3-98c4-dc0c0c07398f", "017f22e2_79b0-7cc3-98c4-dc0c0c07398f", "017f22e2-79b0-7cc3-98c4_dc0c0c07398f",
		"01-f22e2-79b0-7cc3-98c4-dc0c0c07398f", "------------------------------------",
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
		id := NewRequestID()
		require.False(t, id.expired(time.Now()))
		time.Sleep(requestIDMaxAge)
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
	f.Add("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	f.Add("------------------------------------")
	f.Fuzz(func(t *testing.T, s string) {
		made, ok := RequestID(s).Time()
		if ok {
			require.Regexp(t, uuidv7, strings.ToLower(s))
			require.True(t, strings.HasPrefix(string(formatRequestID(made, [10]byte{})), strings.ToLower(s[:13])))
		}
	})
}
