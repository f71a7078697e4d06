package prepaid

import (
	"encoding/json"
	"errors"
	"math/big"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestAmountDoesNotAllocate(t *testing.T) {
	text, number := []byte("12345678901234567.89"), []byte("-1234.5678e2")
	require.Zero(t, testing.AllocsPerRun(100, func() {
		a, err1 := ParseAmount("9999999999999999999")
		var b, c Amount
		err2, err3 := b.UnmarshalText(text), c.UnmarshalJSON(number)
		sum, err4 := b.Add(c)
		if err1 != nil || err2 != nil || err3 != nil || err4 != nil || a == b || sum.Compare(b) == 0 {
			panic("wrong")
		}
		_, err1 = ParseAmount("12345678901234567890")
		_, err2 = ParseAmount("1x")
		if !errors.Is(err1, ErrAmountRange) || !errors.Is(err2, errAmountSyntax) {
			panic("wrong")
		}
	}))
	buffer := make([]byte, 0, 64)
	require.Zero(t, testing.AllocsPerRun(100, func() { buffer, _ = Cents(2550).AppendText(buffer[:0]) }))
}

var (
	plainForm  = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?$`)
	numberForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?$`)
	outputForm = regexp.MustCompile(`^-?(0|[1-9][0-9]*)\.[0-9]{2,19}$`)
)

func FuzzParseAmount(f *testing.F) {
	for _, seed := range []string{
		"0", "-0.00", "25.50", "010", "1e5", ".5", "5.", "+1", "9999999999999999999", "10000000000000000000",
		"0.0000000000000000001", "1.00000000000000000000000", "0x1F", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, s string) {
		a, err := ParseAmount(s)
		if !plainForm.MatchString(s) {
			require.ErrorIs(t, err, errAmountSyntax)
			return
		}
		if err != nil {
			require.ErrorIs(t, err, ErrAmountRange)
			return
		}
		requireCanonical(t, a)
		want, ok := new(big.Rat).SetString(s)
		require.True(t, ok)
		require.Zero(t, rat(t, a).Cmp(want))
		require.Regexp(t, outputForm, a.String())
	})
}

func FuzzAmountJSON(f *testing.F) {
	for _, seed := range []string{
		`0`, `-0`, `25.50`, `"25.50"`, `1e5`, `1E-19`, `1e-20`, `1e19`, `null`, `true`, `"\u0031"`, `{}`, `"1e5"`,
		`12345678901234567890`, `0.10e1`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var a Amount
		err := a.UnmarshalJSON(data)
		if err != nil {
			require.True(t, errors.Is(err, errAmountSyntax) || errors.Is(err, ErrAmountRange))
			require.Zero(t, a)
			return
		}
		require.True(t, json.Valid(data))
		requireCanonical(t, a)
		out, err := a.MarshalJSON()
		require.NoError(t, err)
		require.Regexp(t, outputForm, string(out))
		var back Amount
		require.NoError(t, back.UnmarshalJSON(out))
		require.Equal(t, a, back)
		if numberForm.Match(data) && len(data) < 40 {
			want, ok := new(big.Rat).SetString(string(data))
			require.True(t, !ok || rat(t, a).Cmp(want) == 0) // the oracle refuses vast exponents
		}
	})
}
