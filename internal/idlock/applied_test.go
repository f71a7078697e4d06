package idlock

import (
	"context"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// How a payment ends.
func applied(l *Lock)    { l.Leave(true) }
func notApplied(l *Lock) { l.Leave(false) }
func unknown(l *Lock)    { l.LeaveUnknown(l.Unknown) }

// through takes a payment through its per-ID lock.
func through(t testing.TB, g *Guard, id, body string, leave func(*Lock)) error {
	t.Helper()
	lock, err := g.Enter(context.Background(), Payment{ID: id, Operation: "pay", Source: "a", Body: []byte(body)})
	if err == nil {
		leave(&lock)
	}
	return err
}

// fill takes n payments with the IDs 0 to n-1 through their locks. It calls require only for a failure: that costs more than a payment.
func fill(t *testing.T, g *Guard, n int, leave func(*Lock)) {
	t.Helper()
	for i := range n {
		lock, err := g.Enter(t.Context(), Payment{ID: strconv.Itoa(i), Operation: "pay", Source: "a", Body: []byte("1")})
		if err != nil {
			require.NoError(t, err)
		}
		leave(&lock)
	}
}

// The last 65,536 payments that were made are remembered, and no more, whatever else is.
func TestSettledIDsAreBounded(t *testing.T) {
	t.Parallel()
	g := New(sentNow)
	require.NoError(t, through(t, g, "unknown", "1", unknown))
	fill(t, g, maxApplied, applied)
	for _, n := range []int{0, 1, maxApplied - 1} {
		require.ErrorIs(t, through(t, g, strconv.Itoa(n), "2", applied), ErrOtherPayment)
		require.NoError(t, through(t, g, strconv.Itoa(n), "1", applied), "its own params")
	}
	require.NoError(t, through(t, g, "one more", "1", applied))
	require.NoError(t, through(t, g, "0", "2", applied), "the oldest is forgotten")
	require.NoError(t, through(t, g, "1", "2", notApplied), "as is the next")
	require.ErrorIs(t, through(t, g, "2", "2", applied), ErrOtherPayment)
	require.Len(t, g.applied.payments, maxApplied)
	require.Len(t, g.applied.order, maxApplied)
	require.ErrorIs(t, through(t, g, "unknown", "2", applied), ErrOtherPayment, "an unknown one is never forgotten")
	require.Len(t, g.ids, 1)
}

// Unknown outcomes are not forgotten when there are very many.
func TestUnknownIDsAreKept(t *testing.T) {
	t.Parallel()
	g := New(sentNow)
	const all = maxApplied + 1000
	fill(t, g, all, unknown)
	for _, n := range []int{0, 1, all / 2, all - 1} {
		require.ErrorIs(t, through(t, g, strconv.Itoa(n), "2", unknown), ErrOtherPayment)
	}
	require.Len(t, g.ids, all)
}

func TestDigestsKeepTheirPartsApart(t *testing.T) {
	t.Parallel()
	d, other := newDigester(), newDigester()
	p := Payment{ID: "1", Operation: "pay", Source: "a", Body: []byte("b")}
	one := d.of(&p)
	require.Equal(t, one, d.of(&Payment{ID: "2", Operation: "pay", Source: "a", Body: []byte("b")}))
	require.NotEqual(t, one, other.of(&p), "without the key it says nothing")
	require.NotEqual(t, one, d.of(&Payment{Operation: "pay", Source: "ab"}))
	require.NotEqual(t, one, d.of(&Payment{Operation: "paya", Body: []byte("b")}))
	require.NotEqual(t, one, d.of(&Payment{Operation: "send", Source: "a", Body: []byte("b")}))
}
