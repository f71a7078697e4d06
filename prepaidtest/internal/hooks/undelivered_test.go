package hooks

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/activity"
	"github.com/cardprograms/prepaid/prepaidtest/internal/clock"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ids"
	"github.com/cardprograms/prepaid/prepaidtest/internal/ledger"
)

// The cost of a hook grows linearly with the number of its failures.
func TestUndelivered_CopiesNothing(t *testing.T) {
	t.Parallel()
	books := ledger.New(ledger.Options{})
	s := New(books, clock.New(time.Time{}, true), ids.New(nil), activity.New(), nil, Options{AlertEvery: time.Hour})
	h := &Hook{ID: "h", Config: Config{Enabled: true, Reliability: reliabilityStore}, alerting: true}
	l := books.Lock()
	defer l.Unlock()
	moved := 0
	for range 1000 {
		before := cap(h.Undeliverable)
		s.undelivered(l, h, &Message{Keep: true, Attempts: 1})
		if cap(h.Undeliverable) != before {
			moved++
		}
	}
	require.Len(t, h.Undeliverable, 1000)
	require.Less(t, moved, 50)
}
