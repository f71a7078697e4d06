package journalfile

import (
	"context"
	"errors"
	"net/http"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

var errCut = errors.New("cut off")

func doubt(at time.Time, attempts int) error {
	return &prepaid.CallError{Attempts: attempts, FirstSent: at, LastSent: at.Add(time.Second), Err: errCut}
}

// For a payment that it has made, the service returns the cached response: a refusal proves that no money moved.
// Nothing else proves anything about the first attempt.
func TestWhatSettlesADoubt(t *testing.T) {
	t.Parallel()
	after := time.Now().Add(time.Minute) // when no earlier request can be running
	rejected := func(cause error) error {
		return &prepaid.CallError{Outcome: prepaid.OutcomeRejected, LastSent: after, Err: cause}
	}
	own := http.Header{"Content-Type": {"application/vnd.vendor+json"}}
	refusal := &prepaid.APIError{StatusCode: 400, Code: prepaid.CodeInvalidRequest, Header: own}
	for name, tc := range map[string]struct {
		second error
		want   journal.State
	}{
		"refused":            {rejected(refusal), journal.StateRejected},
		"failed":             {rejected(prepaid.ErrTransferFailed), journal.StateRejected},
		"too early":          {&prepaid.CallError{Outcome: prepaid.OutcomeRejected, LastSent: time.Now(), Err: refusal}, journal.StateUnknown},
		"another code":       {rejected(&prepaid.APIError{StatusCode: 400, Code: "duplicate_request", Header: own}), journal.StateUnknown},
		"not processed":      {&prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: refusal}, journal.StateUnknown},
		"unknown":            {&prepaid.CallError{Err: refusal}, journal.StateUnknown},
		"with its own doubt": {errors.Join(rejected(refusal), &prepaid.CallError{Err: errCut}), journal.StateUnknown},
		"not sent":           {rejected(&prepaid.ValidationError{}), journal.StateUnknown},
		"a gateway's 404":    {rejected(&prepaid.APIError{StatusCode: 404, Code: "Not Found"}), journal.StateUnknown},
		"403":                {rejected(&prepaid.APIError{StatusCode: 403, Code: "forbidden", Header: own}), journal.StateUnknown},
		"page of a proxy":    {rejected(&prepaid.APIError{StatusCode: 403}), journal.StateUnknown},
		"no CallError":       {errCut, journal.StateUnknown},
		"unusable":           {&prepaid.CallError{Outcome: prepaid.OutcomeApplied, Err: errCut}, journal.StateUnknown},
	} {
		j, m := openMemory(t, nil)
		b := &bank{paid: map[prepaid.RequestID]prepaid.TransactionID{}, refuses: true, err: errCut}
		_, err := j.Transfer(t.Context(), b, "from", payment(1))
		require.ErrorIs(t, err, errCut)
		b.err = tc.second
		_, err = j.Transfer(t.Context(), b, "from", payment(1))
		want := prepaid.OutcomeUnknown
		if tc.want == journal.StateRejected {
			want = prepaid.OutcomeRejected
		}
		require.Equal(t, want, prepaid.OutcomeOf(err), name)
		j, _ = openMemory(t, m.data)
		e, _ := j.Get(payment(1).RequestID)
		require.Equal(t, tc.want, e.State, name)
	}

	// Had the first request moved the money, the response would have come from the cache.
	j, _ := openMemory(t, nil)
	b := newBank()
	b.err = errCut
	_, err := j.Transfer(t.Context(), b, "from", payment(1))
	require.ErrorIs(t, err, errCut)
	b.err, b.refuses = rejected(refusal), true
	_, err = j.Transfer(t.Context(), b, "from", payment(1))
	require.NoError(t, err)
}

func TestSendingTimes(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	b := newBank()
	first := time.Now().UTC().Round(0).Add(-time.Hour)
	for i, attempts := range []int{3, 2} {
		b.err = doubt(first.Add(time.Duration(i)*time.Minute), attempts)
		_, err := j.Transfer(t.Context(), b, "from", payment(1))
		call, ok := errors.AsType[*prepaid.CallError](err)
		require.True(t, ok)
		require.Equal(t, first, call.FirstSent.UTC(), "FindMovement looks from the first sending of all")
	}
	e, _ := j.Get(payment(1).RequestID)
	require.Equal(t, first.Add(time.Minute+time.Second), e.LastSent)
	j, _ = openMemory(t, m.data)
	e, _ = j.Get(payment(1).RequestID)
	require.Equal(t, first, e.FirstSent)
	require.WithinDuration(t, time.Now(), e.LastSent, time.Minute, "without a NotBefore, nobody knows that it was not later")
	require.Equal(t, 5, e.Attempts)
	require.Equal(t, 2, e.Runs)
}

func TestStats(t *testing.T) {
	t.Parallel()
	j, _ := openMemory(t, nil)
	for i, state := range []journal.State{journal.StateIntended, journal.StateNotSent, journal.StateUnknown, journal.StateDone, journal.StateRejected, journal.StateDone} {
		require.NoError(t, j.record(journal.Entry{RequestID: prepaid.RequestID(rune('a' + i)), Amount: prepaid.Cents(int64(i + 1)), State: state}))
	}
	stats, err := j.Stats()
	require.NoError(t, err)
	total := func(n int, cents int64) journal.Total { return journal.Total{Count: n, Sum: prepaid.Cents(cents)} }
	require.Equal(t, journal.Stats{
		Intended: total(1, 1), NotSent: total(1, 2), Unknown: total(1, 3), Done: total(2, 10), Rejected: total(1, 5),
	}, stats)
	for _, id := range []prepaid.RequestID{"y", "z"} {
		require.NoError(t, j.record(journal.Entry{RequestID: id, Amount: prepaid.MustAmount("9999999999999999999"), State: journal.StateUnknown}))
	}
	stats, err = j.Stats()
	require.ErrorIs(t, err, prepaid.ErrAmountRange)
	require.Equal(t, 3, stats.Unknown.Count)
}

// Text that could not be read again is not written, and nothing is sent.
func TestInvalidTextDoesNotReachTheFile(t *testing.T) {
	t.Parallel()
	j, m := openMemory(t, nil)
	b := newBank()
	for _, source := range []prepaid.AccountID{"a\xff", "from"} {
		params := payment(1)
		if source == "from" {
			params.RequestID = "r\xff"
		}
		_, err := j.Transfer(t.Context(), b, source, params)
		require.ErrorIs(t, err, journal.ErrNotRecorded)
		require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	}
	require.Empty(t, b.paid)
	b.err, b.refuses = errCut, true
	_, err := j.Transfer(t.Context(), b, "from", payment(2))
	require.ErrorIs(t, err, errCut)
	require.ErrorIs(t, j.Resolve(payment(2).RequestID, journal.Moved("\xff")), journal.ErrNotRecorded)
	openMemory(t, m.data)
}

func TestOpenRefusesTheNameOfAnotherFile(t *testing.T) {
	t.Parallel()
	for _, suffix := range []string{".compact", ".evidence"} {
		_, err := Open(filepath.Join(t.TempDir(), "pay"+suffix), Options{})
		require.ErrorContains(t, err, suffix)
	}
}

// If the caller's own store sent a payment before, the journal records its unknown outcome: it waits, accepts only refusals
// that are proof, and never returns "not sent".
func TestPaymentOfAnotherStore(t *testing.T) {
	t.Parallel()
	cut := &prepaid.CallError{Outcome: prepaid.OutcomeNotProcessed, Err: errCut}
	for name, tc := range map[string]struct {
		ago     time.Duration
		err     error
		timeout time.Duration
		want    journal.State
		outcome prepaid.Outcome
		waits   time.Duration
	}{
		"moved":               {10 * time.Second, nil, time.Hour, journal.StateDone, prepaid.OutcomeApplied, 30 * time.Second},
		"not processed":       {10 * time.Second, cut, time.Hour, journal.StateUnknown, prepaid.OutcomeUnknown, 30 * time.Second},
		"by a clock ahead":    {-time.Hour, cut, time.Hour, journal.StateUnknown, prepaid.OutcomeUnknown, 40 * time.Second},
		"an earlier deadline": {10 * time.Second, nil, 20 * time.Second, "", prepaid.OutcomeUnknown, 0},
		"too old":             {journal.Window + time.Second, nil, time.Hour, "", prepaid.OutcomeUnknown, 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				j, _ := openMemory(t, nil)
				b := newBank()
				b.wait, b.err, b.refuses = 40*time.Second, tc.err, tc.err != nil
				params := payment(1)
				params.LastSent = time.Now().Add(-tc.ago)
				ctx, cancel := context.WithTimeout(t.Context(), tc.timeout)
				defer cancel()
				began := time.Now()
				_, err := j.Transfer(ctx, b, "from", params)
				require.Equal(t, tc.outcome, prepaid.OutcomeOf(err), "%v", err)
				require.Equal(t, tc.waits, time.Since(began))
				e, known := j.Get(params.RequestID)
				require.Equal(t, tc.want != "", known)
				require.Equal(t, tc.want, e.State)
				require.Equal(t, name == "too old", errors.Is(err, journal.ErrWindow))
				if !known {
					return
				}
				require.False(t, e.Began.After(began), "the window counts from the first sending that is known")
				params.LastSent = time.Time{} // it is not part of the payment
				b.err, b.refuses = nil, false
				_, err = j.Transfer(ctx, b, "from", params)
				require.NoError(t, err, "not ErrChanged")
			})
		})
	}
}
