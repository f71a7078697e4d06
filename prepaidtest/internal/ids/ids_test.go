package ids

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSeededSourcesAgree(t *testing.T) {
	t.Parallel()
	one, same, other := New(new(uint64(7))), New(new(uint64(7))), New(new(uint64(8)))
	first := one.UUID()
	require.Equal(t, first, same.UUID())
	require.NotEqual(t, first, other.UUID())
	require.NotEqual(t, New(nil).Hex(8), New(nil).Hex(8))
	require.Regexp(t, `^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$`, first)
	require.Regexp(t, `^\d{14}$`, one.Digits(14))
}

func TestARestoredSourceGoesOn(t *testing.T) {
	t.Parallel()
	began := New(new(uint64(7)))
	began.Hex(8)
	number := began.Transaction()
	require.Equal(t, int64(2), began.Taken())
	last, source, err := began.Save()
	require.NoError(t, err)
	next := New(nil)
	require.NoError(t, next.Restore(last, source))
	require.Equal(t, number+1, next.Transaction())
	require.Equal(t, began.Hex(8), next.Hex(8))
	require.Error(t, next.Restore(last, []byte("no source")))
	last, source, err = New(nil).Save()
	require.NoError(t, err)
	require.Nil(t, source)
	require.NoError(t, next.Restore(last, source))
}
