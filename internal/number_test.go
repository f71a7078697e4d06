package internal_test

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/number"
)

func TestParseExponent(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in, want string
		err      error
	}{
		{"1e0", "1", nil},
		{"1E2", "100", nil},
		{"1.5e+1", "15", nil},
		{"-2550e-2", "-25.5", nil},
		{"1.20e1", "12", nil},
		{"0e999999999999999999999", "0", nil},
		{"-0.0E-7", "0", nil},
		{"1e18", "1000000000000000000", nil},
		{"9999999999999999999e-19", "0.9999999999999999999", nil},
		{"1e-19", "0.0000000000000000001", nil},
		{"1000e-21", "0.000000000000000001", nil},
		{"0." + strings.Repeat("0", 99) + "1e100", "1", nil},
		{"1" + strings.Repeat("0", 300) + "e-300", "1", nil},
		{"1e-20", "", number.ErrRange},
		{"1e19", "", number.ErrRange},
		{"12e18", "", number.ErrRange},
		{"1e99999999999999999999999999", "", number.ErrRange},
		{"1e-99999999999999999999999999", "", number.ErrRange},
		{"1e", "", number.ErrSyntax},
		{"1e+", "", number.ErrSyntax},
		{"1e-", "", number.ErrSyntax},
		{"1e1.0", "", number.ErrSyntax},
		{"1e1e1", "", number.ErrSyntax},
		{"e1", "", number.ErrSyntax},
		{"1.e1", "", number.ErrSyntax},
		{"01e1", "", number.ErrSyntax},
		{"99999999999999999999e1x", "", number.ErrSyntax}, // syntax comes before range
	} {
		got, err := number.Parse(test.in, true)
		require.ErrorIs(t, err, test.err, test.in)
		if test.err == nil {
			require.Equal(t, test.want, got.String(), test.in)
		}
		fromBytes, bytesErr := number.Parse([]byte(test.in), true)
		require.Equal(t, got, fromBytes, test.in)
		require.Equal(t, err, bytesErr, test.in)
		if strings.ContainsAny(test.in, "eE") {
			_, err = number.Parse(test.in, false)
			require.ErrorIs(t, err, number.ErrSyntax, test.in)
		}
	}
}

func TestInteger(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]string{
		"0":                         "0",
		"-0":                        "0",
		"0.0":                       "0",
		"0e5":                       "0",
		"12":                        "12",
		"12.0":                      "12",
		"1.2e1":                     "12",
		"-12.00":                    "-12",
		"9007199254740993":          "9007199254740993",
		"9007199254740993.0":        "9007199254740993",
		"9999999999999999999":       "9999999999999999999",
		"1234567890123456789012345": "1234567890123456789012345",
		"12.5":                      "12.5",
		"1e400":                     "1e400",
	} {
		got, ok := number.Integer([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, string(got), in)
	}
	for _, in := range []string{"", "-", "1x", "012", "1e"} {
		_, ok := number.Integer([]byte(in))
		require.False(t, ok, in)
	}
}

func TestInt64(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{
		"0": 0, "12": 12, "12.0": 12, "1.2e1": 12, "-3": -3, "0.00000000000000000012e20": 12, "0e99": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		got, ok := number.Int64([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "x", "012", "+1", "1.5", "1e", "9223372036854775808", "-9223372036854775809", "1e19", "1e400"} {
		_, ok := number.Int64([]byte(in))
		require.False(t, ok, in)
	}
}

func TestPlainIntegersAllocateNothing(t *testing.T) {
	text := []byte("9000001")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, ok := number.Integer(text); !ok {
			t.Error("not a number")
		}
	}))
}

// Every JSON number that encoding/json reads as an int64 is read the same, and nothing that is no JSON number.
func FuzzInt64(f *testing.F) {
	for _, text := range []string{"12", "12.0", "1.2e1", "1200e-2", "0", "00", "-1", "1e19", "9223372036854775807", "1.", ".5", ""} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		value, ok := number.Int64([]byte(text))
		var read json.Number
		valid := json.Unmarshal([]byte(text), &read) == nil && string(read) == text && text != ""
		if ok {
			require.True(t, valid, "not a JSON number")
			if float, err := read.Float64(); err == nil {
				require.InEpsilon(t, math.Abs(float)+1, math.Abs(float64(value))+1, 1e-15)
			}
		}
		if plain, err := read.Int64(); valid && err == nil {
			require.True(t, ok)
			require.Equal(t, plain, value)
		}
	})
}

func TestScalar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		kind number.Kind
		text string
	}{
		{`null`, number.Null, ""},
		{`0`, number.Number, "0"},
		{`-1.5e3`, number.Number, "-1.5e3"},
		{`""`, number.String, ""},
		{`"a"`, number.String, "a"},
		{`"\u0031\/2"`, number.String, "1/2"},
		{`"é"`, number.String, "é"},
		{`"\ud800"`, number.String, "\ufffd"},
		{"\"a\xff\"", number.String, "a\ufffd"},
		{``, number.Other, ""},
		{`"`, number.Other, ""},
		{`"a`, number.Other, ""},
		{`"a"b"`, number.Other, ""},
		{`"\"`, number.Other, ""},
		{`"\x"`, number.Other, ""},
		{`true`, number.Other, ""},
		{`nul`, number.Other, ""},
		{`{}`, number.Other, ""},
		{`[1]`, number.Other, ""},
		{` 1`, number.Other, ""},
		{`+1`, number.Other, ""},
		{`.5`, number.Other, ""},
	} {
		kind, text := number.Scalar([]byte(test.in))
		require.Equal(t, test.kind, kind, test.in)
		require.Equal(t, test.text, string(text), test.in)
	}
}
