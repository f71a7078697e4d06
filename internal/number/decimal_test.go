package number

import (
	"encoding/json"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
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
		{"1e-20", "", ErrRange},
		{"1e19", "", ErrRange},
		{"12e18", "", ErrRange},
		{"1e99999999999999999999999999", "", ErrRange},
		{"1e-99999999999999999999999999", "", ErrRange},
		{"1e", "", ErrSyntax},
		{"1e+", "", ErrSyntax},
		{"1e-", "", ErrSyntax},
		{"1e1.0", "", ErrSyntax},
		{"1e1e1", "", ErrSyntax},
		{"e1", "", ErrSyntax},
		{"1.e1", "", ErrSyntax},
		{"01e1", "", ErrSyntax},
		{"99999999999999999999e1x", "", ErrSyntax}, // syntax comes before range
	} {
		got, err := Parse(test.in, true)
		require.ErrorIs(t, err, test.err, test.in)
		if test.err == nil {
			require.Equal(t, test.want, got.String(), test.in)
		}
		fromBytes, bytesErr := Parse([]byte(test.in), true)
		require.Equal(t, got, fromBytes, test.in)
		require.Equal(t, err, bytesErr, test.in)
		if strings.ContainsAny(test.in, "eE") {
			_, err = Parse(test.in, false)
			require.ErrorIs(t, err, ErrSyntax, test.in)
		}
	}
}

func TestNewDecimal(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		value uint64
		scale int
		want  string
	}{
		{0, 0, "0"},
		{math.MaxInt64, 0, "9223372036854775807"},
		{math.MaxInt64 + 1, 0, "9223372036854775808"},
		{math.MaxInt64 + 2, 2, "92233720368547758.09"},
		{9_999_999_999_999_999_999, 19, "0.9999999999999999999"},
	} {
		got, err := newDecimal(false, test.value, test.scale)
		require.NoError(t, err)
		require.Equal(t, test.want, got.String())
	}
	for _, scale := range []int{-1, 20} {
		for _, value := range []uint64{1, math.MaxUint64} {
			_, err := newDecimal(false, value, scale)
			require.ErrorIs(t, err, ErrRange)
		}
	}
	_, err := newDecimal(false, math.MaxUint64, 0)
	require.ErrorIs(t, err, ErrRange)
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
		got, ok := Integer([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, string(got), in)
	}
	for _, in := range []string{"", "-", "1x", "012", "1e"} {
		_, ok := Integer([]byte(in))
		require.False(t, ok, in)
	}
}

func TestInt64(t *testing.T) {
	t.Parallel()
	for in, want := range map[string]int64{
		"0": 0, "12": 12, "12.0": 12, "1.2e1": 12, "-3": -3, "0.00000000000000000012e20": 12, "0e99": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64,
	} {
		got, ok := Int64([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "x", "012", "+1", "1.5", "1e", "9223372036854775808", "-9223372036854775809", "1e19", "1e400"} {
		_, ok := Int64([]byte(in))
		require.False(t, ok, in)
	}
}

func TestPlainIntegersAllocateNothing(t *testing.T) {
	text := []byte("9000001")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		if _, ok := Integer(text); !ok {
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
		value, ok := Int64([]byte(text))
		var number json.Number
		valid := json.Unmarshal([]byte(text), &number) == nil && string(number) == text && text != ""
		if ok {
			require.True(t, valid, "not a JSON number")
			if float, err := number.Float64(); err == nil {
				require.InEpsilon(t, math.Abs(float)+1, math.Abs(float64(value))+1, 1e-15)
			}
		}
		if plain, err := number.Int64(); valid && err == nil {
			require.True(t, ok)
			require.Equal(t, plain, value)
		}
	})
}
