package journal

import (
	"testing"
	"time"
	"unsafe"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// steps are changes of the wall clock.
var steps = []time.Duration{time.Minute, -time.Minute, time.Hour, -time.Hour, 24 * time.Hour, -24 * time.Hour}

// before returns t as it was taken before the wall clock was set, which changed it by the duration step. t has a monotonic reading.
func before(t time.Time, step time.Duration) time.Time {
	*(*uint64)(unsafe.Pointer(&t)) -= uint64(step/time.Second) << 30 //nolint:gosec // seconds of the wall clock; they may wrap
	return t
}

const rest = 40 * time.Second

// sleeper is a sender whose payments rest.
type sleeper struct{ Sender }

func (sleeper) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(rest) }

// The wall clock is set during a call of unknown outcome. The age of the request is that of the monotonic clock: in the entry, in its JSON,
// and in the wait. Times of synctest have no monotonic reading, so this uses the system clock, and does not wait for it.
func TestClockIsSetDuringACall(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		now := time.Now()
		sent := before(now.Add(-30*time.Second), step)
		require.Equal(t, 30*time.Second, now.Sub(sent), "the monotonic reading is the same")
		require.Equal(t, 30*time.Second+step, now.Round(0).Sub(sent.Round(0)))
		run, err := Entry{State: StateQueued}.Begin(before(now.Add(-time.Minute), step))
		require.NoError(t, err)
		e, _ := run.End(now, nil, &prepaid.CallError{
			Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: sent, LastSent: sent, NotBefore: sent.Add(rest),
		})
		require.Equal(t, StateUnknown, e.State)
		ages := func(e Entry, age time.Duration) {
			t.Helper()
			require.Equal(t, age, now.Sub(e.FirstSent), step)
			require.Equal(t, age, now.Sub(e.LastSent), step)
			require.Equal(t, age-rest, now.Sub(e.NotBefore), step)
			require.Equal(t, rest-age, e.Earliest(sleeper{}, now).Sub(now), step)
		}
		ages(e, 30*time.Second)
		stored := e // without monotonic readings, as in JSON
		for _, at := range []*time.Time{&stored.FirstSent, &stored.LastSent, &stored.NotBefore, &stored.Changed} {
			*at = at.Round(0)
		}
		now = now.Round(0)
		ages(stored, 30*time.Second)
		// The clock is set again, after a store has read it by another clock.
		there := now.Add(3 * time.Hour)
		now = time.Now()
		read := stored.Shift(now.Round(0), there).Shift(there.Round(0), before(now, step))
		ages(read, now.Round(0).Sub(stored.LastSent))
	}
}

// A payment whose outcome the caller knows to be unknown keeps its age.
func TestClockIsSetBeforeNewEntry(t *testing.T) {
	t.Parallel()
	for _, step := range steps {
		sent := time.Now().Add(-30 * time.Second)
		e, err := NewEntry(prepaid.Secret{}, "a", prepaid.TransferParams{RequestID: "r", LastSent: before(sent, step)})
		require.NoError(t, err)
		require.Equal(t, StateUnknown, e.State)
		require.Equal(t, sent.Sub(e.LastSent), time.Duration(0), step)
		require.WithinDuration(t, sent.Round(0), e.LastSent.Round(0), time.Second, step) // the rates of the clocks differ
	}
}

// A sender in another process has a clock that is ahead: the rest is not longer.
func TestSenderIsAhead(t *testing.T) {
	t.Parallel()
	now := time.Now()
	run, err := Entry{State: StateQueued}.Begin(now)
	require.NoError(t, err)
	sent := now.Add(24 * time.Hour).Round(0)
	e, _ := run.End(now, nil, &prepaid.CallError{Outcome: prepaid.OutcomeUnknown, Attempts: 1, FirstSent: sent, LastSent: sent, NotBefore: sent.Add(rest)})
	require.Equal(t, now.Round(0), e.LastSent.Round(0).Local())
	require.Equal(t, rest, e.Earliest(sleeper{}, now).Sub(now))
	e, _ = run.End(now, nil, &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Attempts: 1, FirstSent: sent, LastSent: sent})
	require.True(t, e.NotBefore.IsZero())
}
