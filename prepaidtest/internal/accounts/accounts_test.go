package accounts

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

func TestBetweenIncludesBothSeconds(t *testing.T) {
	t.Parallel()
	at := time.Date(2030, 1, 2, 3, 4, 5, 0, time.UTC)
	items := make([]ledger.Item, 4)
	for i := range items {
		items[i].OccurredAt = at.Add(time.Duration(i) * 600 * time.Millisecond) // seconds 5, 5, 6, 6
	}
	require.Len(t, between(items, time.Time{}, time.Time{}), 4)
	require.Len(t, between(items, at, at), 2)
	require.Len(t, between(items, at.Add(time.Second), time.Time{}), 2)
	require.Empty(t, between(items, at.Add(time.Second), at))
}
