package prepaid

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/ascii"
)

func TestTransactionNumber(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		type body struct {
			Parent transactionNumber `json:"parent_transaction_id,omitzero"`
		}
		for _, id := range []TransactionID{"0", "12", "-12", "9007199254740993", "123456789012345678901234567890"} {
			require.True(t, id.numeric(), string(id))
			out, err := lib.marshal(body{transactionNumber(id)})
			require.NoError(t, err)
			require.Equal(t, `{"parent_transaction_id":`+string(id)+`}`, string(out))
		}
		for _, id := range []TransactionID{"", "-", "-0", "00", "012", "-012", "12.0", "1e3", "+1", " 1", "abc", "0x1", "1-", "٣"} {
			require.False(t, id.numeric(), string(id))
			_, err := lib.marshal([]transactionNumber{transactionNumber(id)})
			require.ErrorIs(t, err, errTransactionIDSyntax, string(id))
		}
		out, err := lib.marshal(body{})
		require.NoError(t, err)
		require.Equal(t, `{}`, string(out))
	})
}

func TestAccountAndCompanyIDJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		type body struct {
			Account AccountID   `json:"account_id"`
			Company CompanyID   `json:"company_id"`
			Scope   []CompanyID `json:"scope"`
		}
		const wire = `{"account_id":"00123","company_id":9007199254740993,"scope":[1,2]}`
		var b body
		require.NoError(t, lib.unmarshal([]byte(wire), &b))
		require.Equal(t, body{"00123", 9007199254740993, []CompanyID{1, 2}}, b)
		out, err := lib.marshal(b)
		require.NoError(t, err)
		require.Equal(t, wire, string(out))
	})
}

func TestMCCJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		for in, want := range map[string]MCC{
			`742`:              "0742",
			`742.0`:            "0742",
			`7.42e2`:           "0742",
			`"742"`:            "0742",
			`"0742"`:           "0742",
			`"\u0030742"`:      "0742",
			`0`:                "0000",
			`"0"`:              "0000",
			`5411`:             "5411",
			`"5411"`:           "5411",
			`""`:               "",
			`null`:             "",
			`54111`:            "54111", // not a code: kept as received
			`"54111"`:          "54111",
			`-1`:               "-1",
			`54.5`:             "54.5",
			`1e400`:            "1e400",
			`"retail"`:         "retail",
			`" 742"`:           " 742",
			`"caf\u00e9"`:      "café",
			`"say \"hi\""`:     `say "hi"`,
			`"00742"`:          "00742",
			`"*"`:              "*",
			`9007199254740993`: "9007199254740993",
		} {
			m := MCC("before")
			require.NoError(t, lib.unmarshal([]byte(in), &m), in)
			require.Equal(t, want, m, in)
			out, err := lib.marshal(m)
			require.NoError(t, err)
			var text string
			require.NoError(t, json.Unmarshal(out, &text), "written as a string")
			require.Equal(t, string(want), text)
			var back MCC
			require.NoError(t, lib.unmarshal(out, &back))
			require.Equal(t, m, back)
		}
		for _, in := range []string{`true`, `{}`, `[742]`} {
			m := MCC("5411")
			require.ErrorIs(t, lib.unmarshal([]byte(in), &m), errMCCSyntax, in)
			require.Equal(t, MCC("5411"), m)
		}
		var codes map[MCC][]MCC
		require.NoError(t, lib.unmarshal([]byte(`{"5411":[742,"0742"]}`), &codes))
		require.Equal(t, map[MCC][]MCC{"5411": {"0742", "0742"}}, codes)
	})
	require.ErrorIs(t, new(MCC).UnmarshalJSON([]byte(`0742`)), errMCCSyntax)
	require.ErrorIs(t, new(MCC).UnmarshalJSON([]byte(`7x`)), errMCCSyntax)
}

func FuzzMCC(f *testing.F) {
	for _, seed := range []string{`742`, `"742"`, `"0742"`, `742.0`, `null`, `true`, `""`, `-1`, `1e400`, `"\u0030"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var m MCC
		if err := m.UnmarshalJSON(data); err != nil {
			require.ErrorIs(t, err, errMCCSyntax)
			require.Empty(t, m)
			return
		}
		if m.valid() {
			number, err := mccNumber(m).MarshalJSON()
			require.NoError(t, err)
			var back MCC
			require.NoError(t, back.UnmarshalJSON(number))
			require.Equal(t, m, back)
		}
		var text string
		if json.Unmarshal(data, &text) == nil && len(text) != 4 && (text == "" || !ascii.IsDigits(text) || len(text) > 4) {
			require.Equal(t, MCC(text), m, "odd text changed")
		}
	})
}

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
			day, ok := id.Date()
			require.True(t, ok)
			require.Equal(t, DateOf(time.Now().UTC()), day)
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

// The expected IDs were computed with another implementation. They must never change: a partner that upgrades between
// two attempts would pay twice.
func TestDeriveRequestIDIsFixed(t *testing.T) {
	t.Parallel()
	payday := Date{2026, 11, 3}
	require.Equal(t, RequestID("20261103-7064-8984-96cd-003f306b64be"), DeriveRequestID(payday, "payroll-2026-11", "emp-7"))
	require.Equal(t, RequestID("20261103-7064-801d-9476-e2ccfe2c87a2"), DeriveRequestID(payday, "ab", "c"))
	require.Equal(t, RequestID("20261103-7064-8faf-a1cf-2f19a7c1129b"), DeriveRequestID(payday, "a", "bc"))
	require.Equal(t, RequestID("20261103-7064-8051-9eae-b079a63aacbb"), DeriveRequestID(payday, "é", ""))
	require.Equal(t, RequestID("19700101-7064-8b19-afd4-907bedf51c30"), DeriveRequestID(Date{1970, 1, 1}, "a"))
}

func TestDeriveRequestIDKeepsPartsApart(t *testing.T) {
	t.Parallel()
	day := Date{2026, 11, 3}
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
		require.NotEqual(t, id, DeriveRequestID(Date{2026, 11, 4}, parts...))
	}
	for _, parts := range [][]string{nil, {}, {""}, {"", "", ""}} {
		require.Empty(t, DeriveRequestID(day, parts...))
	}
}

// If a non-existent day became another day, two payments could have one ID.
func TestDeriveRequestIDNeedsADay(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 11, 3, 0, 0, 0, 0, time.UTC)
	for _, day := range []Date{
		{}, {Year: 2026, Month: 2, Day: 29}, {Year: 2026, Month: 13, Day: 1}, {Year: 2026, Month: 11}, {Month: 11, Day: 3}, {Year: 10000, Month: 1, Day: 1},
		{Year: -1, Month: 12, Day: 31},
	} {
		require.Empty(t, DeriveRequestID(day, "a"), day)
	}
	for day, want := range map[Date]string{
		{Year: 1, Month: 1, Day: 1}: "00010101-", {Year: 2024, Month: 2, Day: 29}: "20240229-", {Year: 9999, Month: 12, Day: 31}: "99991231-",
	} {
		id := DeriveRequestID(day, "a")
		require.Regexp(t, ownRequestID, string(id))
		require.True(t, strings.HasPrefix(string(id), want), id)
		written, ok := id.Date()
		require.True(t, ok)
		require.Equal(t, day, written)
		require.True(t, id.Expired(now), id)
	}
}

// Only this package's IDs contain a day: not the caller's UUIDv7, whatever its age.
func TestRequestIDDate(t *testing.T) {
	t.Parallel()
	const own = "20261103-7064-8984-96cd-003f306b64be"
	for _, id := range []RequestID{own, RequestID(strings.ToUpper(own))} { // some databases write UUIDs in upper case
		day, ok := id.Date()
		require.True(t, ok)
		require.Equal(t, Date{2026, 11, 3}, day)
	}
	for _, id := range []RequestID{
		"", "order-17", RequestID(own[:35]), own + "0", RequestID(strings.ReplaceAll(own, "-", "")), "{" + own + "}",
		"017f22e2-79b0-7cc3-98c4-dc0c0c07398f", "017F22E2-79B0-7CC3-98C4-DC0C0C07398F", // UUIDv7, the example of RFC 9562, A.6
		"01a19eb4-a000-7984-96cd-003f306b64be", "2489e9ad-2ee2-8e00-8ec9-32d5f69181c0", // UUIDv7, and UUIDv8 of RFC 9562, B.1
		"20261103-7065-8984-96cd-003f306b64be",                                         // another tag
		"20261103-7064-7984-96cd-003f306b64be", "20261103-7064-4984-96cd-003f306b64be", // other versions
		"20261103-7064-8984-16cd-003f306b64be", "20261103-7064-8984-d6cd-003f306b64be", // other variants
		"00001103-7064-8984-96cd-003f306b64be", "20261131-7064-8984-96cd-003f306b64be", "20260229-7064-8984-96cd-003f306b64be", "2026110a-7064-8984-96cd-003f306b64be", // not days
		"+0261103-7064-8984-96cd-003f306b64be", " 2261103-7064-8984-96cd-003f306b64be",
		"20261103-7064-8g84-96cd-003f306b64be", "20261103-7064-8984-96cd-003f306b64bg",
		"20261103_7064-8984-96cd-003f306b64be", "20261103-7064-8984-96cd_003f306b64be", "------------------------------------",
	} {
		made, ok := id.Date()
		require.False(t, ok, string(id))
		require.Zero(t, made)
		require.False(t, id.Expired(time.Now()), string(id))
	}
}

func TestRequestIDExpired(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		time.Sleep(13 * time.Hour)
		id := NewRequestID()
		require.False(t, id.Expired(time.Now()))
		time.Sleep(requestIDMaxAge - 13*time.Hour) // of the day, which began 13 hours before the id was made
		require.False(t, id.Expired(time.Now()))
		time.Sleep(time.Millisecond)
		require.True(t, id.Expired(time.Now()))
	})
	now := time.Date(2026, 11, 3, 9, 0, 0, 0, time.UTC)
	require.False(t, DeriveRequestID(DateOf(now.AddDate(0, 0, 7)), "a").Expired(now))
	require.True(t, DeriveRequestID(DateOf(now.AddDate(0, 0, 8)), "a").Expired(now)) // would outlive the service's memory
	require.False(t, DeriveRequestID(DateOf(now.AddDate(0, 0, -21)), "a").Expired(now))
	require.True(t, DeriveRequestID(DateOf(now.AddDate(0, 0, -22)), "a").Expired(now)) // midnight was 9 hours before
	require.Less(t, requestIDMaxAge+requestIDMaxAhead, 30*24*time.Hour)
	require.False(t, RequestID("order-17").Expired(now))
}

func FuzzRequestIDDate(f *testing.F) {
	f.Add("20261103-7064-8984-96cd-003f306b64be")
	f.Add("017f22e2-79b0-7cc3-98c4-dc0c0c07398f")
	f.Add("------------------------------------")
	f.Fuzz(func(t *testing.T, s string) {
		day, ok := RequestID(s).Date()
		if ok {
			require.Regexp(t, ownRequestID, strings.ToLower(s))
			require.True(t, strings.HasPrefix(string(formatRequestID(day, [10]byte{})), s[:13]))
		}
	})
}
