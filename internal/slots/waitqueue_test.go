package slots

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/ratelimit"
)

// A new line has not been passed by, and a waiter that left holds on to nobody.
func TestWaitQueue(t *testing.T) {
	t.Parallel()
	l := New(Options{Window: 1})
	q := &l.queues[ratelimit.Call]
	for _, passed := range []int{0, 7} {
		q.passed = 7
		q.push(&waiter{})
		require.Equal(t, passed, q.passed)
	}
	first := q.first()
	l.unqueue(first)
	require.Equal(t, waiter{}, *first)
}
