package internal_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
)

func TestSeededSourcesAgree(t *testing.T) {
	t.Parallel()
	one, same, other := ids.New(new(uint64(7))), ids.New(new(uint64(7))), ids.New(new(uint64(8)))
	first := one.UUID()
	require.Equal(t, first, same.UUID())
	require.NotEqual(t, first, other.UUID())
	require.NotEqual(t, ids.New(nil).Hex(8), ids.New(nil).Hex(8))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first)
	require.Regexp(t, `^\d{14}$`, one.Digits(14))
}

func TestARestoredSourceGoesOn(t *testing.T) {
	t.Parallel()
	began := ids.New(new(uint64(7)))
	began.Hex(8)
	number := began.Transaction()
	require.Equal(t, int64(2), began.Taken())
	last, source, err := began.Save()
	require.NoError(t, err)
	next := ids.New(nil)
	require.NoError(t, next.Restore(last, source))
	require.Equal(t, number+1, next.Transaction())
	require.Equal(t, began.Hex(8), next.Hex(8))
	require.Error(t, next.Restore(last, []byte("no source")))
	last, source, err = ids.New(nil).Save()
	require.NoError(t, err)
	require.Nil(t, source)
	require.NoError(t, next.Restore(last, source))
}
