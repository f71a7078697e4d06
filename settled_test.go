package prepaid

import (
	"context"
	"runtime"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
)

// through takes a request through its turn.
func through(t testing.TB, f *inFlight, id, body string, outcome Outcome) error {
	t.Helper()
	turn, err := f.enter(context.Background(), &request{op: opTransfer, account: "a", requestID: RequestID(id), encoded: []byte(body)})
	if err == nil {
		turn.leave(outcome, turn.notBefore)
	}
	return err
}

// A client remembers the last 65,536 payments that were made, whatever else it remembers, and no more.
func TestSettledIDsAreBounded(t *testing.T) {
	t.Parallel()
	f := &inFlight{repeats: new(repeatRule)}
	require.NoError(t, through(t, f, "unknown", "1", OutcomeUnknown))
	for n := range settledIDs {
		require.NoError(t, through(t, f, strconv.Itoa(n), "1", OutcomeApplied))
	}
	for _, n := range []int{0, 1, settledIDs - 1} {
		require.ErrorIs(t, through(t, f, strconv.Itoa(n), "2", OutcomeApplied), ErrRequestIDReused)
		require.NoError(t, through(t, f, strconv.Itoa(n), "1", OutcomeApplied), "its own params")
	}
	require.NoError(t, through(t, f, "one more", "1", OutcomeApplied))
	require.NoError(t, through(t, f, "0", "2", OutcomeApplied), "the oldest is forgotten")
	require.NoError(t, through(t, f, "1", "2", OutcomeRejected), "as is the next")
	require.ErrorIs(t, through(t, f, "2", "2", OutcomeApplied), ErrRequestIDReused)
	require.Len(t, f.settled.payments, settledIDs)
	require.Len(t, f.settled.order, settledIDs)
	require.ErrorIs(t, through(t, f, "unknown", "2", OutcomeApplied), ErrRequestIDReused, "an unknown one is never forgotten")
	require.Len(t, f.ids, 1)
}

// Neither are unknown ones when there are very many.
func TestUnknownIDsAreKept(t *testing.T) {
	t.Parallel()
	f := &inFlight{repeats: new(repeatRule)}
	for n := range 2 * settledIDs {
		require.NoError(t, through(t, f, strconv.Itoa(n), "1", OutcomeUnknown))
	}
	for n := range 2 * settledIDs {
		require.ErrorIs(t, through(t, f, strconv.Itoa(n), "2", OutcomeUnknown), ErrRequestIDReused)
	}
}

func TestDigestsKeepTheirPartsApart(t *testing.T) {
	t.Parallel()
	var d, other digester
	r := &request{op: opTransfer, account: "a", encoded: []byte("b")}
	one := d.of(r)
	require.Equal(t, one, d.of(r))
	require.NotEqual(t, one, other.of(r), "without the key it says nothing")
	require.NotEqual(t, one, d.of(&request{op: opTransfer, account: "ab"}))
	require.NotEqual(t, one, d.of(&request{op: opDirectEntryOut, account: "a", encoded: []byte("b")}))
}

// What a transfer pays for its turn and for being remembered.
func BenchmarkTurn(b *testing.B) {
	f := &inFlight{repeats: new(repeatRule)}
	r := &request{op: opTransfer, account: "EA52174568995001", encoded: make([]byte, 250)}
	ids := make([]RequestID, 2*settledIDs)
	for n := range ids {
		ids[n] = NewRequestID()
	}
	var before, after runtime.MemStats
	runtime.GC() //nolint:revive // what was there before does not count
	runtime.ReadMemStats(&before)
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		r.requestID = ids[n%len(ids)]
		n++
		turn, err := f.enter(context.Background(), r)
		if err != nil {
			b.Fatal(err)
		}
		turn.leave(OutcomeApplied, turn.notBefore)
	}
	runtime.GC() //nolint:revive // what is left is what counts
	runtime.ReadMemStats(&after)
	b.ReportMetric(float64(after.HeapAlloc)-float64(before.HeapAlloc), "held-B")
	runtime.KeepAlive(f)
	runtime.KeepAlive(ids)
}
