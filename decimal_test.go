package prepaid

import (
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScanDecimalExponent(t *testing.T) {
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
		{"1e-20", "", ErrAmountRange},
		{"1e19", "", ErrAmountRange},
		{"12e18", "", ErrAmountRange},
		{"1e99999999999999999999999999", "", ErrAmountRange},
		{"1e-99999999999999999999999999", "", ErrAmountRange},
		{"1e", "", ErrAmountSyntax},
		{"1e+", "", ErrAmountSyntax},
		{"1e-", "", ErrAmountSyntax},
		{"1e1.0", "", ErrAmountSyntax},
		{"1e1e1", "", ErrAmountSyntax},
		{"e1", "", ErrAmountSyntax},
		{"1.e1", "", ErrAmountSyntax},
		{"01e1", "", ErrAmountSyntax},
		{"99999999999999999999e1x", "", ErrAmountSyntax}, // syntax comes before range
	} {
		got, err := scanDecimal(test.in, true)
		require.ErrorIs(t, err, test.err, test.in)
		if test.err == nil {
			require.Equal(t, test.want, got.String(), test.in)
		}
		fromBytes, bytesErr := scanDecimal([]byte(test.in), true)
		require.Equal(t, got, fromBytes, test.in)
		require.Equal(t, err, bytesErr, test.in)
		if strings.ContainsAny(test.in, "eE") {
			_, err = scanDecimal(test.in, false)
			require.ErrorIs(t, err, ErrAmountSyntax, test.in)
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
			require.ErrorIs(t, err, ErrAmountRange)
		}
	}
	_, err := newDecimal(false, math.MaxUint64, 0)
	require.ErrorIs(t, err, ErrAmountRange)
}

func TestIntegerText(t *testing.T) {
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
		got, ok := integerText([]byte(in))
		require.True(t, ok, in)
		require.Equal(t, want, got, in)
	}
	for _, in := range []string{"", "-", "1x", "012", "1e"} {
		_, ok := integerText([]byte(in))
		require.False(t, ok, in)
	}
}
