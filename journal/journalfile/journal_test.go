package journalfile

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/pause"
	"github.com/cardprograms/prepaid/journal"
)

// waits is a sender whose payments of unknown outcome wait. It sends nothing.
type waits struct {
	journal.Sender

	wait time.Duration
}

func (w waits) NotBefore(lastSent time.Time) time.Time { return lastSent.Add(w.wait) }

func (w waits) AwaitRepeat(ctx context.Context, _ prepaid.AccountID, lastSent time.Time) error {
	return pause.For(ctx, time.Until(w.NotBefore(lastSent)))
}

// bank responds to a known request id from its cache, as the service does.
type bank struct {
	waits

	mu    sync.Mutex
	paid  map[prepaid.RequestID]prepaid.TransactionID
	calls int
	err   error // instead of the response; the money moved, unless refused
	// refuses: nothing more moves, but a moved payment gets its response from the cache.
	refuses bool
}

func (b *bank) pay(id prepaid.RequestID) (*prepaid.TransferResult, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.paid[id] == "" {
		if b.refuses {
			return nil, b.err
		}
		b.paid[id] = prepaid.TransactionID(strconv.Itoa(7 + len(b.paid)))
		if b.err != nil {
			return nil, b.err
		}
	} else if b.err != nil && !b.refuses {
		return nil, b.err
	}
	return &prepaid.TransferResult{TransactionID: b.paid[id], CorrelationID: "c", RequestID: id}, nil
}

func (b *bank) Transfer(_ context.Context, _ prepaid.AccountID, p prepaid.TransferParams) (*prepaid.TransferResult, error) {
	return b.pay(p.RequestID)
}

func (b *bank) DirectEntryOut(_ context.Context, _ prepaid.AccountID, p prepaid.DirectEntryOutParams) (*prepaid.TransferResult, error) {
	return b.pay(p.RequestID)
}

func newBank() *bank { return &bank{paid: map[prepaid.RequestID]prepaid.TransactionID{}} }

func payment(n int) prepaid.TransferParams {
	return prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), fmt.Sprint(n)), Amount: prepaid.Cents(100),
		SourceReference: "SECRETREF", DestinationReference: "B", DestinationAccountID: "SECRETDEST",
	}
}

func open(t *testing.T, path string) *Journal {
	t.Helper()
	j, err := Open(path, Options{})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, j.Close()) })
	return j
}

// record records a payment that one run, begun at the time at, left in a state.
func record(t *testing.T, j *Journal, from prepaid.AccountID, params prepaid.TransferParams, state journal.State, at time.Time) {
	t.Helper()
	e, err := journal.NewEntry(j.options.DigestKey, from, params)
	require.NoError(t, err)
	e.State, e.Began, e.Changed, e.Runs = state, at, at, 1
	require.NoError(t, j.record(e))
}

func TestPay(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "j")
	j, b := open(t, path), newBank()
	_, err := Open(path, Options{})
	require.ErrorIs(t, err, ErrLocked)

	b.err = errors.New("cut off")
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
	b.err = &prepaid.CallError{Outcome: prepaid.OutcomeRejected} // stays unknown
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))

	changed := payment(1)
	changed.Amount = prepaid.Cents(200)
	_, err = j.Transfer(t.Context(), b, "from", changed)
	require.ErrorIs(t, err, journal.ErrChanged)
	require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
	require.ErrorContains(t, err, ": journal: params changed under their request id: amount (recorded payment: unknown)")

	b.err = nil
	var wg sync.WaitGroup
	for range 20 {
		wg.Go(func() {
			result, err := j.Transfer(t.Context(), b, "from", payment(1))
			require.NoError(t, err)
			require.Equal(t, prepaid.TransactionID("7"), result.TransactionID)
		})
	}
	wg.Wait()
	_, err = j.Transfer(t.Context(), b, "from", changed)
	require.ErrorContains(t, err, "(recorded payment: done)")
	require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
	require.Equal(t, 3, b.calls)

	old := payment(2)
	record(t, j, "from", old, journal.StateUnknown, time.Now().Add(-journal.Window-time.Hour))
	_, err = j.Transfer(t.Context(), b, "from", old)
	require.ErrorIs(t, err, journal.ErrWindow)
	require.Equal(t, 3, b.calls)
}
