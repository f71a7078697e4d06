package journalfile

import (
	"context"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// A payment that was paid some other way is withdrawn: no later run of the list sends it.
func TestWithdraw(t *testing.T) {
	t.Parallel()
	j, m := openMemoryWith(t, nil, sealing(t, 1))
	b := newBank()
	b.err, b.refuses = &prepaid.CallError{Outcome: prepaid.OutcomeRejected, Err: errCut}, true
	id := payment(1).RequestID
	require.ErrorIs(t, j.Withdraw(id), journal.ErrNoPayment)
	_, err := j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, errCut)
	e, _ := j.Get(id)
	require.NotNil(t, e.Sealed, "a rejected payment may be sent again")
	require.NoError(t, j.Withdraw(id))
	require.ErrorIs(t, j.Withdraw(id), journal.ErrState)
	require.ErrorIs(t, j.Resolve(id, journal.NotMoved()), journal.ErrNotUnknown)

	j, _ = openMemoryWith(t, m.data, sealing(t, 1))
	e, _ = j.Get(id)
	require.Equal(t, journal.StateWithdrawn, e.State)
	require.Nil(t, e.Sealed)
	require.Empty(t, slices.Collect(j.Pending()))
	b.err, b.refuses = nil, false
	calls := b.calls
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, journal.ErrWithdrawn)
	require.ErrorContains(t, err, ": journal: begin: not possible, the payment is withdrawn")
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), "a loop does not try for ever")
	changed := payment(1)
	changed.SourceReference = "other"
	_, err = j.Transfer(t.Context(), b, "from", changed)
	require.ErrorIs(t, err, journal.ErrChanged)
	stats, err := j.Stats()
	require.NoError(t, err)
	require.Equal(t, journal.Stats{Withdrawn: journal.Total{Count: 1, Sum: prepaid.Cents(100)}}, stats)
	require.Equal(t, calls, b.calls)

	require.NoError(t, j.Retry(id))
	require.ErrorIs(t, j.Retry(id), journal.ErrState)
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.NoError(t, err)
	require.ErrorIs(t, j.Withdraw(id), journal.ErrState)
}

// No decision is possible while a payment is being sent. Compact may drop a withdrawn payment like any settled one.
func TestDecisionsWhileUnderWay(t *testing.T) {
	t.Parallel()
	j, _ := openMemory(t, nil)
	_, _, leave, err := j.enter(context.Background(), "a")
	require.NoError(t, err)
	require.ErrorIs(t, j.Withdraw("a"), journal.ErrUnderWay)
	require.ErrorIs(t, j.Retry("a"), journal.ErrUnderWay)
	require.ErrorIs(t, j.Resolve("a", journal.NotMoved()), journal.ErrUnderWay)
	leave()
	require.ErrorIs(t, j.Retry("a"), journal.ErrNoPayment)
	require.ErrorIs(t, j.Resolve("a", journal.NotMoved()), journal.ErrNotUnknown)
	require.Empty(t, maps.Collect(j.turns.Range))

	onDisk := open(t, t.TempDir()+"/j")
	require.NoError(t, onDisk.record(journal.Entry{RequestID: "w", State: journal.StateWithdrawn, Changed: time.Now()}))
	require.NoError(t, onDisk.record(journal.Entry{RequestID: "q", State: journal.StateQueued, Changed: time.Now()}))
	require.NoError(t, onDisk.Compact(time.Now().Add(time.Hour)))
	_, known := onDisk.Get("w")
	require.False(t, known)
	_, known = onDisk.Get("q")
	require.True(t, known)
}

// A journal deletes a claim's state at its end or, if the payment is due again, at the next claim.
func TestClaimsThatEndedAreForgotten(t *testing.T) {
	t.Parallel()
	j, _ := openSealed(t, left(t, sealing(t, 1), 1, 2, 3))
	for round := range 3 {
		claimed, err := j.Claim(t.Context(), journal.Claim{N: 10, Sends: time.Second, Rest: time.Second, Admitted: time.Now().Add(time.Hour)})
		require.NoError(t, err)
		require.Len(t, claimed, 3)
		var ends []journal.End
		for _, h := range claimed {
			run, err := h.Entry.Begin(time.Now())
			require.NoError(t, err)
			e := run.GiveBack()
			if round == 2 {
				e, err = run.End(time.Now(), &prepaid.TransferResult{TransactionID: "7"}, nil)
				require.NoError(t, err)
			}
			ends = append(ends, journal.End{Fence: h.Fence, Entry: e})
		}
		_, err = j.Record(t.Context(), ends)
		require.NoError(t, err)
		require.LessOrEqual(t, len(j.holds), 3)
	}
	require.Empty(t, j.holds)
	require.Empty(t, maps.Collect(j.turns.Range))
}
