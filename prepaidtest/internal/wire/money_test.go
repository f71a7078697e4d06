package wire

import (
	"math/rand/v2"
	"testing"

	"github.com/govalues/decimal"
	"github.com/stretchr/testify/require"
)

func TestMoneyReadsJSONNumbersExactly(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0.00", "-0": "0.00", "25.5": "25.50", "25.50": "25.50", "0.0001": "0.0001", "1.1000": "1.10", "1.1010": "1.101",
		"-7.25": "-7.25", "1e2": "100.00", "12.5E-2": "0.125", "1E+3": "1000.00", "999999999999999.9999": "999999999999999.9999", "0.0000000000000000001": "0.0000000000000000001",
		"1.00001":                      "1.00001",
		"1.50000000000000000000000000": "1.50", "0e20": "0.00", "100e-6": "0.0001",
	} {
		got, err := ParseMoney(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{
		"", "-", "+1", ".5", "1.", "010", "0x10", "1,5", "1 ", "NaN", "1e", "1e99", "0.00000000000000000001", "1.0000000000000000001", "99999999999999999999", "1_000", "1e1.5", "--1",
	} {
		_, err := ParseMoney(text)
		require.ErrorIs(t, err, errMoney, text)
	}
}

func TestMoneyPrintsWhatItReads(t *testing.T) {
	t.Parallel()
	for range 2000 {
		want := Money{decimal.MustNew(rand.Int64()-rand.Int64(), rand.IntN(20)).Trim(0)}
		got, err := ParseMoney(want.String())
		require.NoError(t, err)
		require.Equal(t, want, got)
	}
}

func TestMoneyAdditionNoticesItsRange(t *testing.T) {
	t.Parallel()
	most, err := ParseMoney("999999999999999.9999")
	require.NoError(t, err)
	least, err := ParseMoney("0.0001")
	require.NoError(t, err)
	_, ok := most.Plus(least)
	require.False(t, ok)
	_, ok = most.Plus(Whole(9_000_000_000_000_000))
	require.False(t, ok)
	_, ok = most.Neg().Minus(Whole(9_000_000_000_000_000))
	require.False(t, ok)
	sum, ok := most.Minus(most)
	require.True(t, ok)
	require.Zero(t, sum)
}

func TestLoadAmount_4_4_WrittenForms(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"0": "0.00", "25": "25.00", "25.50": "25.50", "010": "8.00", "0o17": "15.00", "0O17": "15.00", "0x1F": "31.00", "0Xff": "255.00",
		"010.5": "10.50", "00.25": "0.25", "00": "0.00",
	} {
		got, err := parseLoadAmount(text)
		require.NoError(t, err, text)
		require.Equal(t, want, got.String(), text)
	}
	for _, text := range []string{"", "-1", "08", "0o8", "0xG", "0x", "0o", "0x1.8", "1e", "abc"} {
		_, err := parseLoadAmount(text)
		require.Error(t, err, text)
	}
}
