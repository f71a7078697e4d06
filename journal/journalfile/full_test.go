package journalfile

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"runtime"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// The disk fails at any write or sync, with any part of the record written: nothing is sent without its intent,
// nothing is sent afterwards, and the next run finishes.
func TestDiskFullAtEachWrite(t *testing.T) {
	t.Parallel()
	for full := 1; full <= 6; full++ { // an intent and an outcome for each of three
		for _, part := range []int{0, 1, 17, 200, -1} {
			j, m := openMemory(t, nil)
			m.writes, m.full, m.part, m.fsync = 0, full, part, part < 0
			b := newBank()
			err := payThree(t, j, b)
			require.ErrorIs(t, err, journal.ErrNotRecorded)
			require.ErrorIs(t, err, errFull)
			require.Equal(t, full, m.writes, "nothing is written after what is not known")
			require.Equal(t, full/2, b.calls)

			again, _ := openMemory(t, m.data)
			require.NoError(t, payThree(t, again, b))
			require.Len(t, b.paid, 3)
			require.Len(t, done(again), 3)
		}
	}
}

// The payment was made but could not be recorded: the caller gets its result and the error.
func TestOutcomeNotRecorded(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	m.writes, m.full = 0, 2
	result, err := j.Transfer(t.Context(), newBank(), "from", payment(1))
	require.ErrorIs(t, err, journal.ErrNotRecorded)
	require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
	require.Equal(t, prepaid.TransactionID("7"), result.TransactionID)
	j.unlock = func() error { return nil }
	require.NoError(t, j.Close())
	_, err = j.Transfer(t.Context(), newBank(), "from", payment(2))
	require.ErrorIs(t, err, errFull, "the first failure outlives Close")
	require.NotErrorIs(t, err, ErrClosed)
	require.ErrorIs(t, j.Compact(time.Time{}), errFull)
}

// Records that arrive while others are written share the next sync.
func TestGroupCommit(t *testing.T) {
	t.Parallel()
	const payments = 100
	j, m := openMemory(t, nil)
	m.syncs.Store(0)
	m.syncing = func() { // the first waits for the records of all other callers
		for arrived := 0; m.syncs.Load() == 1 && arrived < payments; runtime.Gosched() {
			j.mu.Lock()
			arrived = bytes.Count(m.data, []byte("\n")) - 1 + len(j.next.records)
			j.mu.Unlock()
		}
	}
	var wg sync.WaitGroup
	for n := range payments {
		wg.Go(func() {
			require.NoError(t, j.record(journal.Entry{RequestID: payment(n).RequestID, State: journal.StateDone}))
		})
	}
	wg.Wait()
	require.EqualValues(t, 2, m.syncs.Load())
	again, _ := openMemory(t, m.data)
	require.Len(t, done(again), payments)
}

// A context may end while the call waits for its per-ID lock, for the first request to finish, or for the response.
func TestCancelledAtEachStage(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		j, _ := openMemory(t, nil)
		stuck := &stuckBank{bank: newBank()}
		stuck.wait = 10 * time.Second
		first, cancelFirst := context.WithCancel(t.Context())
		var wg sync.WaitGroup
		wg.Go(func() { // waits for the response
			_, err := j.Transfer(first, stuck, "from", payment(1))
			require.ErrorIs(t, err, context.Canceled)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		})
		synctest.Wait()

		short, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		_, err := j.Transfer(short, stuck, "from", payment(1)) // waits for its per-ID lock
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.ErrorIs(t, j.Resolve(payment(1).RequestID, journal.NotMoved()), journal.ErrUnderWay)
		e, _ := j.Get(payment(1).RequestID)
		require.Equal(t, journal.StateIntended, e.State)
		cancelFirst()
		wg.Wait()

		short, cancel = context.WithTimeout(t.Context(), 9*time.Second)
		defer cancel()
		began := time.Now()
		_, err = j.Transfer(short, stuck, "from", payment(1)) // could not wait long enough for the first request to finish
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Zero(t, time.Since(began))
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		call, ok := errors.AsType[*prepaid.CallError](err)
		require.True(t, ok)

		waiting, stop := context.WithCancel(t.Context())
		time.AfterFunc(9*time.Second, stop)
		_, err = j.Transfer(waiting, stuck, "from", payment(1)) // waits for the first request to finish
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, 9*time.Second, time.Since(began))
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Equal(t, 1, stuck.calls)

		require.Empty(t, maps.Collect(j.turns.Range))
		result, err := j.Transfer(t.Context(), stuck.bank, "from", payment(1))
		require.NoError(t, err)
		require.Equal(t, prepaid.TransactionID("7"), result.TransactionID)
		require.Equal(t, 10*time.Second, time.Since(began))
		require.Equal(t, call.NotBefore.UTC(), time.Now().UTC())
	})
}

// stuckBank moves the money and never responds.
type stuckBank struct{ *bank }

func (b *stuckBank) Transfer(ctx context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	if _, err := b.pay(p.RequestID); err != nil {
		return nil, err
	}
	<-ctx.Done()
	return nil, &prepaid.CallError{Attempts: 1, FirstSent: time.Now(), LastSent: time.Now(), Err: ctx.Err()}
}
