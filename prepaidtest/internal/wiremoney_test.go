package internal_test

import (
	"math/rand/v2"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestMoneyReadsJSONNumbersExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0.00", "-0": "0.00", "25.5": "25.50", "25.50": "25.50", "0.0001": "0.0001", "1.1000": "1.10", "1.1010": "1.101",
		"-7.25": "-7.25", "1e2": "100.00", "12.5E-2": "0.125", "1E+3": "1000.00", "999999999999999.9999": "999999999999999.9999", "0.0000000000000000001": "0.0000000000000000001",
		"1.00001":                      "1.00001",
		"1.50000000000000000000000000": "1.50", "0e20": "0.00", "100e-6": "0.0001",
	} {
		got, err := wire.ParseMoney(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		"", "-", "+1", ".5", "1.", "010", "0x10", "1,5", "1 ", "NaN", "1e", "1e99", "0.00000000000000000001", "1.0000000000000000001", "99999999999999999999", "1_000", "1e1.5", "--1",
	} {
		_, err := wire.ParseMoney(text)
		require.ErrorContains(t, err, "must be a decimal number of at most 19 digits", text)
	}
}

func TestMoneyPrintsWhatItReads(t *testing.T) {
	t.Parallel()
	for range 2000 {
		want := decimal.MustNew(rand.Int64()-rand.Int64(), rand.IntN(20)).Trim(0)
		got, err := wire.ParseMoney(want.String())
		require.NoError(t, err)
		require.Equal(t, want.Pad(2).String(), got.String())
		again, err := wire.ParseMoney(got.String())
		require.NoError(t, err)
		require.Equal(t, got, again)
	}
}

func TestMoneyAdditionNoticesItsRange(t *testing.T) {
	t.Parallel()
	most, err := wire.ParseMoney("999999999999999.9999")
	require.NoError(t, err)
	least, err := wire.ParseMoney("0.0001")
	require.NoError(t, err)
	_, ok := most.Plus(least)
	require.False(t, ok)
	_, ok = most.Plus(wire.Whole(9_000_000_000_000_000))
	require.False(t, ok)
	_, ok = most.Neg().Minus(wire.Whole(9_000_000_000_000_000))
	require.False(t, ok)
	sum, ok := most.Minus(most)
	require.True(t, ok)
	require.Zero(t, sum)
}
