package internal_test

import (
	"encoding/json"
	"math"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/number"
)

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
