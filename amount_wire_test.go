package prepaid

import (
	"database/sql"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

var _ sql.Scanner = (*Amount)(nil)

func TestAmountJSON(t *testing.T) {
	t.Parallel()
	eachJSON(t, func(t *testing.T, lib jsonLibrary) {
		for _, test := range []struct{ in, want string }{
			{`25.5`, `25.50`},
			{`"25.5"`, `25.50`},
			{`"25.50"`, `25.50`},
			{`"\u0032\u0035.5"`, `25.50`},
			{`0`, `0.00`},
			{`-0`, `0.00`},
			{`-0.0e9`, `0.00`},
			{`8`, `8.00`},
			{`2.55e1`, `25.50`},
			{`1E-7`, `0.0000001`},
			{`1e18`, `1000000000000000000.00`},
			{`-12345678901234567.89`, `-12345678901234567.89`},
			{`9007199254740993`, `9007199254740993.00`},
			{`0.1`, `0.10`},
			{` 7 `, `7.00`},
		} {
			var a Amount
			require.NoError(t, lib.unmarshal([]byte(test.in), &a), test.in)
			requireCanonical(t, a)
			out, err := lib.marshal(a)
			require.NoError(t, err)
			require.Equal(t, test.want, string(out), test.in)
		}
		for in, want := range map[string]error{
			`true`: errAmountSyntax, `false`: errAmountSyntax, `{}`: errAmountSyntax, `[]`: errAmountSyntax,
			`[1]`: errAmountSyntax, `""`: errAmountSyntax, `"null"`: errAmountSyntax, `"1e5"`: errAmountSyntax,
			`"010"`: errAmountSyntax, `"0x1F"`: errAmountSyntax, `"+1"`: errAmountSyntax, `" 1"`: errAmountSyntax,
			`"1,50"`: errAmountSyntax, `"NaN"`: errAmountSyntax,
			`1e19`: ErrAmountRange, `1e-20`: ErrAmountRange, `12345678901234567890`: ErrAmountRange,
			`"12345678901234567890"`: ErrAmountRange, `0.12345678901234567891`: ErrAmountRange,
		} {
			a := MustAmount("42")
			err := lib.unmarshal([]byte(in), &a)
			require.ErrorIs(t, err, want, in)
			require.NotContains(t, err.Error(), "1234", "the message shows the value")
			require.Equal(t, MustAmount("42"), a, "%s changed the amount", in)
		}
		for _, in := range []string{`010`, `+1`, `.5`, `5.`, `0x1F`, `1e`, ``} { // not JSON
			require.Error(t, lib.unmarshal([]byte(in), new(Amount)), in)
		}

		type body struct {
			Amount  Amount            `json:"amount"`
			Pointer *Amount           `json:"pointer"`
			Omitted Amount            `json:"omitted,omitzero"`
			List    []Amount          `json:"list"`
			Map     map[string]Amount `json:"map"`
		}
		b := body{Pointer: new(MustAmount("-1")), List: []Amount{{}, Cents(1)}, Map: map[string]Amount{"a": Cents(110)}}
		out, err := lib.marshal(b)
		require.NoError(t, err)
		require.Equal(t, `{"amount":0.00,"pointer":-1.00,"list":[0.00,0.01],"map":{"a":1.10}}`, string(out))
		var back body
		require.NoError(t, lib.unmarshal(out, &back))
		require.Equal(t, b, back)

		require.NoError(t, lib.unmarshal([]byte(`{"amount":null,"pointer":null}`), &back))
		require.Nil(t, back.Pointer)
	})
}

// UnmarshalJSON is exported, so it must handle input that no JSON decoder passes on.
func TestAmountUnmarshalJSONDirectly(t *testing.T) {
	t.Parallel()
	for _, in := range []string{``, ` `, `010`, `-`, `1 `, `0x10`, `5.`, `.5`, `"`, `"1`, `1"`, `nullx`, `"1"1"`, `1e5x`, `--1`} {
		require.ErrorIs(t, new(Amount).UnmarshalJSON([]byte(in)), errAmountSyntax, "%q", in)
	}
	a := MustAmount("42")
	require.NoError(t, a.UnmarshalJSON([]byte(`null`)))
	require.Equal(t, MustAmount("42"), a)
}

func TestAmountFmt(t *testing.T) {
	t.Parallel()
	a := MustAmount("25.5")
	require.Equal(t, `25.50|25.50|"25.50"|   25.50|25.50|prepaid.MustAmount("25.50")`,
		fmt.Sprintf("%v|%s|%q|%8s|%+v|%#v", a, a, a, a, a, a))
	require.Equal(t, "[25.50 0.00] {25.50}", fmt.Sprint([]Amount{a, {}}, struct{ A Amount }{a}))
	require.Contains(t, fmt.Sprintf("%#v", struct{ A Amount }{a}), `prepaid.MustAmount("25.50")`)
}

// A library may fill an array with anything. Nothing is then written or sent, and nothing panics.
func TestAmountOfOtherNumbers(t *testing.T) {
	t.Parallel()
	for _, a := range []Amount{
		{{250, 1}}, {{0, 1}}, {{0, minus}}, {{1, 20}}, {{1, 99}}, {{1, 2 * minus}}, {{1, math.MaxUint64}}, {{10_000_000_000_000_000_000}}, {{math.MaxUint64, 19}},
	} {
		for _, write := range []func() error{
			func() error { _, err := a.MarshalText(); return err },
			func() error { _, err := a.MarshalBinary(); return err },
			func() error { _, err := a.MarshalJSON(); return err },
			func() error { _, err := a.Value(); return err },
			func() error { _, _, err := a.MarshalBSONValue(); return err },
			func() error { _, err := a.Add(Cents(1)); return err },
			func() error { _, err := Cents(1).Sub(a); return err },
			func() error { _, err := a.Mul(1); return err },
		} {
			require.ErrorIs(t, write(), ErrAmountRange)
		}
		require.Equal(t, "NaN", a.String())
		require.False(t, a.IsZero()) // omitzero would leave it out
		_, ok := a.Cents()
		require.False(t, ok)
		require.NotPanics(t, func() { a.Neg().Abs().Compare(a) })
		var v validator
		v.positive("a", a)
		v.notNegative("a", a)
		require.Equal(t, slices.Repeat([]FieldError{{"a", "must be made by ParseAmount or Cents"}}, 2), v.faults)
	}
}

func TestAmountBinary(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"25.50", "-0.125", "0.00", "9999999999999999999.00", "-0.0000000000000000001"} {
		a := MustAmount(text)
		binary, err := a.AppendBinary([]byte("x"))
		require.NoError(t, err)
		require.Equal(t, "x"+text, string(binary))
		var back Amount
		require.NoError(t, back.UnmarshalBinary(binary[1:]))
		require.True(t, back.Equal(a))
		kind, data, err := a.MarshalBSONValue()
		require.NoError(t, err)
		require.NoError(t, back.UnmarshalBSONValue(kind, data))
		require.Equal(t, a, back)
		require.ErrorIs(t, back.UnmarshalBSONValue(kind, data[1:]), errAmountSyntax)
	}
}

func TestAmountSQL(t *testing.T) {
	t.Parallel()
	value, err := MustAmount("-25.5").Value()
	require.NoError(t, err)
	require.Equal(t, "-25.50", value)

	for _, src := range []any{"25.5", "25.50", []byte("25.500")} {
		var a Amount
		require.NoError(t, a.Scan(src))
		require.Equal(t, Cents(2550), a)
	}
	for _, n := range []int64{0, 3, math.MaxInt64, math.MinInt64} {
		var a Amount
		require.NoError(t, a.Scan(n))
		requireCanonical(t, a)
		require.Zero(t, rat(t, a).Cmp(new(big.Rat).SetInt64(n)))
	}
	a := MustAmount("42")
	for _, src := range []any{nil, 25.5, float32(1), true, "", "1e5", []byte("x"), []byte(nil), 7, struct{}{}} {
		require.ErrorIs(t, a.Scan(src), errAmountSyntax, "%T", src)
	}
	require.ErrorIs(t, a.Scan("12345678901234567890"), ErrAmountRange)
	require.Equal(t, MustAmount("42"), a)

	var null sql.Null[Amount]
	require.NoError(t, null.Scan(nil))
	require.False(t, null.Valid)
	require.NoError(t, null.Scan("1.5"))
	require.Equal(t, sql.Null[Amount]{V: Cents(150), Valid: true}, null)
}
