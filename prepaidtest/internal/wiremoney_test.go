package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

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
