package storetest_test

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A store that may lack commits ends Run: nothing more is claimed or sent, and outcomes are recorded once.
func TestFailoverEndsRun(t *testing.T) {
	t.Parallel()
	failover := fmt.Errorf("store: %w", journal.ErrFailover)
	trace := func(func()) journal.Trace { return journal.Trace{} }
	synctest.Test(t, func(t *testing.T) {
		b, records := &broken{database: newDatabase(0)}, 0
		b.record = func(ends []journal.End) ([]journal.Recorded, error) {
			records += len(ends)
			recorded, err := b.database.Record(t.Context(), ends)
			return recorded, errors.Join(err, failover)
		}
		pause := func() { time.Sleep(time.Second) } // an outcome is recorded before the next call ends
		sent := 0
		odd := map[prepaid.RequestID]func(){}
		for _, id := range []prepaid.RequestID{"a", "b", "c"} {
			odd[id] = func() { sent++; pause() }
		}
		require.ErrorIs(t, runs(t, b, teller{odd: odd}, 1, trace, "a", "b", "c"), failover)
		require.LessOrEqual(t, sent, 2, "the second call may have begun")
		require.Equal(t, 3, records)
		states := map[journal.State]int{}
		for _, r := range b.rows {
			states[r.entry.State]++
			require.False(t, r.entry.State == journal.StateNotSent && r.due.After(time.Now()), "another worker can send it at once")
		}
		require.Equal(t, map[journal.State]int{journal.StateDone: sent, journal.StateNotSent: 3 - sent}, states)
	})
	synctest.Test(t, func(t *testing.T) {
		b, began := &broken{database: newDatabase(0)}, time.Now()
		b.claim = func(journal.Claim) ([]journal.Held, error) { return nil, failover }
		require.ErrorIs(t, runs(t, b, teller{}, 1, trace, "a"), failover)
		require.Zero(t, time.Since(began))
	})
}
