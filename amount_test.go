package prepaid

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/number"
)

// rat is the oracle: a as an exact fraction.
func rat(t testing.TB, a Amount) *big.Rat {
	t.Helper()
	r, ok := new(big.Rat).SetString(a.String())
	require.True(t, ok)
	return r
}

// requireCanonical fails if a value has two representations, which would break ==.
func requireCanonical(t testing.TB, a Amount) {
	t.Helper()
	require.True(t, a.valid())
	require.False(t, a.IsZero() && a != Amount{}, "a second zero")
}

func TestParseAmount(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ in, want string }{
		{"0", "0.00"},
		{"-0", "0.00"},
		{"0.000", "0.00"},
		{"-0.0", "0.00"},
		{"1", "1.00"},
		{"25.5", "25.50"},
		{"25.50", "25.50"},
		{"25.5000000000000000000000000000", "25.50"},
		{"-25.50", "-25.50"},
		{"0.125", "0.125"},
		{"0.05", "0.05"},
		{"10", "10.00"},
		{"100.10", "100.10"},
		{"9223372036854775807", "9223372036854775807.00"},
		{"9223372036854775808", "9223372036854775808.00"},
		{"9999999999999999999", "9999999999999999999.00"},
		{"-9999999999999999999", "-9999999999999999999.00"},
		{"9999999999999999999.000", "9999999999999999999.00"},
		{"1000000000000000000", "1000000000000000000.00"},
		{"99999999999999999.99", "99999999999999999.99"},
		{"0.9999999999999999999", "0.9999999999999999999"},
		{"0.0000000000000000001", "0.0000000000000000001"},
		{"0.00000000000000000010", "0.0000000000000000001"},
	} {
		got, err := ParseAmount(test.in)
		require.NoError(t, err, test.in)
		requireCanonical(t, got)
		require.Equal(t, test.want, got.String(), test.in)
		require.Equal(t, got, MustAmount(got.String()), test.in)
	}
}

func TestParseAmountRefuses(t *testing.T) {
	t.Parallel()
	for _, in := range []string{
		"", " ", "-", "--1", "+1", "010", "00", "-01", "0x1F", "0o17", "1e5", "1E5", ".5", "5.", "-.5", ".", "1.2.3",
		"1,5", "1_000", " 1", "1 ", "1\n", "NaN", "Inf", "null", `"1"`, "$1", "1/2", "١", "1\x00", "0x", "1-", "é",
	} {
		a, err := ParseAmount(in)
		require.ErrorIs(t, err, errAmountSyntax, "%q", in)
		require.Zero(t, a, "%q", in)
	}
	for _, in := range []string{
		"10000000000000000000", "99999999999999999999", "-10000000000000000000", "1000000000000000000.1",
		"99999999999999999.999", "0.00000000000000000001", "0.00000000000000000012", strings.Repeat("9", 1000),
		"1" + strings.Repeat("0", 1000), "0." + strings.Repeat("0", 1000) + "1",
	} {
		a, err := ParseAmount(in)
		require.ErrorIs(t, err, ErrAmountRange, "%q", in)
		require.Zero(t, a, "%q", in)
	}
}

func TestMustAmount(t *testing.T) {
	t.Parallel()
	require.Equal(t, Cents(2550), MustAmount("25.50"))
	require.PanicsWithError(t, errAmountSyntax.Error(), func() { MustAmount("7777e1") })
}

func TestAmountErrorsHideTheValue(t *testing.T) {
	t.Parallel()
	const canary = "7777777"
	most := MustAmount("9999999999999999999")
	var errs []error
	add := func(err error) {
		require.Error(t, err)
		errs = append(errs, err)
	}
	for _, in := range []string{canary + "x", strings.Repeat(canary, 9)} {
		_, err := ParseAmount(in)
		add(err)
		add(new(Amount).UnmarshalText([]byte(in)))
		add(new(Amount).UnmarshalJSON([]byte(in)))
		add(new(Amount).UnmarshalJSON([]byte(`"` + in + `"`)))
		add(new(Amount).Scan(in))
	}
	add(new(Amount).Scan(7777777.5))
	_, err := most.Add(MustAmount(canary))
	add(err)
	_, err = MustAmount(canary).Sub(most.Neg())
	add(err)
	_, err = most.Mul(7777777)
	add(err)
	for _, err := range errs {
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", err, err, err), "777")
		require.True(t, errors.Is(err, errAmountSyntax) || errors.Is(err, ErrAmountRange))
	}
}

func TestAmountComparesByValue(t *testing.T) {
	t.Parallel()
	same := []Amount{
		MustAmount("25.5"), MustAmount("25.50"), MustAmount("25.500000"), Cents(2550),
		must(MustAmount("25").Add(MustAmount("0.5"))), must(MustAmount("26").Sub(MustAmount("0.50"))),
		must(MustAmount("5.1").Mul(5)), MustAmount("-25.5").Neg(), MustAmount("-25.5").Abs(),
	}
	for _, a := range same {
		require.True(t, a == same[0])
		requireCanonical(t, a)
	}
	for _, zero := range []Amount{
		{}, Cents(0), MustAmount("-0.00"), Cents(0).Neg(), MustAmount("0").Abs(),
		must(MustAmount("-0.01").Add(MustAmount("0.01"))), must(MustAmount("1.25").Sub(MustAmount("1.25"))),
		must(MustAmount("-1.5").Mul(0)),
	} {
		require.True(t, zero == Amount{})
		require.True(t, zero.IsZero())
		require.Zero(t, zero.Sign())
	}
	require.Len(t, map[Amount]bool{MustAmount("1"): true, MustAmount("1.0"): true, MustAmount("1.01"): true}, 2)
	require.Equal(t, 1, MustAmount("0.01").Sign())
	require.Equal(t, -1, MustAmount("-0.01").Sign())
	require.False(t, MustAmount("0.01").IsZero())

	amounts := []Amount{MustAmount("10"), MustAmount("-1"), MustAmount("9.99"), {}, MustAmount("-1.01")}
	slices.SortFunc(amounts, Amount.Compare)
	require.Equal(t, []Amount{MustAmount("-1.01"), MustAmount("-1"), {}, MustAmount("9.99"), MustAmount("10")}, amounts)
}

func must(a Amount, err error) Amount {
	if err != nil {
		panic(err)
	}
	return a
}

func TestCents(t *testing.T) {
	t.Parallel()
	for _, n := range []int64{0, 1, -1, 5, 10, 99, 100, 2550, -2550, math.MaxInt64, math.MinInt64, math.MinInt64 + 1} {
		a := Cents(n)
		requireCanonical(t, a)
		require.Zero(t, rat(t, a).Cmp(big.NewRat(n, 100)), n)
		got, ok := a.Cents()
		require.True(t, ok, n)
		require.Equal(t, n, got)
	}
	for _, s := range []string{
		"0.001", "-0.125", "92233720368547758.08", "-92233720368547758.09", "9999999999999999999", "-9999999999999999999",
		"999999999999999999.9",
	} {
		got, ok := MustAmount(s).Cents()
		require.False(t, ok, s)
		require.Zero(t, got, s)
	}
}

func TestAmountArithmeticAtTheLimit(t *testing.T) {
	t.Parallel()
	const most = "9999999999999999999"
	for _, test := range []struct{ a, b, want string }{
		{"0.1", "0.2", "0.30"},
		{most, "-" + most, "0.00"},
		{most, "0", most + ".00"},
		{"9999999999999999998", "1", most + ".00"},
		{most, "1", ""},
		{most, "0.1", ""},
		{"-" + most, "-0.0000000000000000001", ""},
		{"999999999999999999.9", "0.1", "1000000000000000000.00"}, // 20 digits before the zero goes
		{"999999999999999999.9", "0.2", ""},
		{"999999999999999999.9", "0.01", ""},
		{"-999999999999999999.5", "-0.5", "-1000000000000000000.00"},
		{"0.9999999999999999999", "0.0000000000000000001", "1.00"},
		{"0.9999999999999999999", "0.9999999999999999999", ""},
		{"0.5555555555555555555", "0.5555555555555555555", "1.111111111111111111"},
		{"0.5555555555555555555", "0.5555555555555555545", "1.11111111111111111"},
		{"1", "0.0000000000000000001", ""},
		{"5000000000000000000", "5000000000000000000", ""},
	} {
		a, b := MustAmount(test.a), MustAmount(test.b)
		for name, op := range map[string]func() (Amount, error){
			"a+b":     func() (Amount, error) { return a.Add(b) },
			"b+a":     func() (Amount, error) { return b.Add(a) },
			"a-(-b)":  func() (Amount, error) { return a.Sub(b.Neg()) },
			"-(-a-b)": func() (Amount, error) { sum, err := a.Neg().Sub(b); return sum.Neg(), err },
		} {
			got, err := op()
			if test.want == "" {
				require.ErrorIs(t, err, ErrAmountRange, "%s: %s %s", name, test.a, test.b)
				require.Zero(t, got)
				continue
			}
			require.NoError(t, err, "%s: %s %s", name, test.a, test.b)
			requireCanonical(t, got)
			require.Equal(t, test.want, got.String(), "%s: %s %s", name, test.a, test.b)
		}
	}
}

func TestAmountMul(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		a    string
		n    int64
		want string
	}{
		{"25.50", 3, "76.50"},
		{"25.50", -3, "-76.50"},
		{"-0.05", -20, "1.00"},
		{"25.50", 0, "0.00"},
		{"0", math.MinInt64, "0.00"},
		{"1", math.MinInt64, "-9223372036854775808.00"},
		{"0.01", math.MaxInt64, "92233720368547758.07"},
		{"1234567890123456.789", 1000, "1234567890123456789.00"}, // 22 digits before the zeros go
		{"1234567890123456.789", 1001, ""},
		{"9999999999999999999", 1, "9999999999999999999.00"},
		{"9999999999999999999", 2, ""},
		{"5", math.MaxInt64, ""},
		{"0.0000000000000000001", math.MaxInt64, "0.9223372036854775807"},
		{"0.0000000000000000011", math.MaxInt64, ""},
		{"0.5", math.MinInt64, "-4611686018427387904.00"},
	} {
		got, err := MustAmount(test.a).Mul(test.n)
		if test.want == "" {
			require.ErrorIs(t, err, ErrAmountRange, "%s × %d", test.a, test.n)
			require.Zero(t, got)
			continue
		}
		require.NoError(t, err, "%s × %d", test.a, test.n)
		requireCanonical(t, got)
		require.Equal(t, test.want, got.String(), "%s × %d", test.a, test.n)
	}
}

// Random amounts of every size, against math/big: a result is exact or refused, and it is refused only when no
// Amount can hold it.
func TestAmountArithmeticIsExact(t *testing.T) {
	t.Parallel()
	random := rand.New(rand.NewPCG(1, 2))
	amount := func() Amount {
		digits := int8(1 + random.Int32N(number.MaxDigits)) //nolint:gosec // at most 19
		coef := random.Uint64N(number.Power10(digits))
		if random.IntN(3) == 0 { // near the edge
			coef = number.Power10(digits) - 1 - random.Uint64N(min(3, number.Power10(digits)))
		}
		sign := [...]string{"", "-"}[random.IntN(2)]
		d, err := number.Parse(fmt.Sprintf("%s%de-%d", sign, coef, random.IntN(number.MaxDigits+1)), true)
		require.NoError(t, err)
		return amountOf(d)
	}
	check := func(what string, got Amount, err error, want *big.Rat) {
		if err == nil {
			requireCanonical(t, got)
			require.Zero(t, rat(t, got).Cmp(want), what)
			return
		}
		require.ErrorIs(t, err, ErrAmountRange)
		_, err = ParseAmount(want.FloatString(40))
		require.ErrorIs(t, err, ErrAmountRange, "%s was refused but fits", what)
	}
	for range 5_000 {
		a, b, n := amount(), amount(), random.Int64()>>random.IntN(64)
		if random.IntN(2) == 0 {
			n = -n
		}
		ra, rb := rat(t, a), rat(t, b)
		require.Equal(t, ra.Cmp(rb), a.Compare(b))
		require.Equal(t, ra.Cmp(rb) == 0, a == b)

		got, err := a.Add(b)
		check(fmt.Sprint(a, " + ", b), got, err, new(big.Rat).Add(ra, rb))
		got, err = a.Sub(b)
		check(fmt.Sprint(a, " - ", b), got, err, new(big.Rat).Sub(ra, rb))
		got, err = a.Mul(n)
		check(fmt.Sprint(a, " × ", n), got, err, new(big.Rat).Mul(ra, new(big.Rat).SetInt64(n)))
	}
}
