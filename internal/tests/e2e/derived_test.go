package e2e

import (
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Another client of the family does not pay twice while a payment continues after a lost response, however short its
// attempts are.
func TestE2EDerivedClientDoesNotOvertake(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	s.Inject(harness.TransferOperation, prepaidtest.DropBeforeCommit().CommitAfter(400*time.Millisecond))
	once, err := s.client.With(prepaid.Overrides{Retry: prepaid.RetryPolicy{MaxAttempts: 1}})
	require.NoError(t, err)
	payment := harness.TransferTo(to, "25.00")
	_, err = once.Accounts.Transfer(t.Context(), from, payment)
	require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))

	hasty, err := s.client.With(prepaid.Overrides{AttemptTimeout: 200 * time.Millisecond})
	require.NoError(t, err)
	results := make([]error, 4)
	var group sync.WaitGroup
	for i, client := range []*prepaid.Client{hasty, s.client, once, hasty} {
		group.Go(func() { results[i] = done(client.Accounts.Transfer(t.Context(), from, payment)) })
	}
	group.Wait()
	require.NoError(t, errors.Join(results...))
	require.Empty(t, s.PaidTwice())
	s.holds(from, "75.00")
	s.holds(to, "25.00")
}

// Nor does a client with short attempts pay twice if a payment takes longer than its attempts and InFlightWait, but not longer
// than the first client allows.
func TestE2EShortAttemptsDoNotPayTwice(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	s.Inject(harness.TransferOperation, prepaidtest.DropBeforeCommit().CommitAfter(300*time.Millisecond))
	users, err := s.client.With(prepaid.Overrides{AttemptTimeout: 100 * time.Millisecond})
	require.NoError(t, err)
	again, err := users.With(prepaid.Overrides{AttemptTimeout: 50 * time.Millisecond})
	require.NoError(t, err)
	_, err = again.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "25.00"))
	require.NoError(t, err)
	require.NoError(t, s.WaitIdle(t.Context()))
	require.Empty(t, s.PaidTwice())
	s.holds(from, "75.00")
	s.holds(to, "25.00")
}

// The emulator has the operations of the reference. A raw call of another path finds nothing, and does nothing.
func TestE2ERawCallOfAnUnknownPath(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	id := s.seed("100.00")
	for _, method := range []string{"GET", "POST", "PUT", "PATCH", "DELETE"} {
		err := s.client.Do(t.Context(), prepaid.RawRequest{
			Method: method, Path: "/accounts/{id}/expiry", PathValues: map[string]string{"id": string(id)},
		}, nil)
		failed(t, err, prepaid.OutcomeRejected, 404, "not_found")
		require.ErrorIs(t, err, prepaid.ErrNotFound)
	}
	s.holds(id, "100.00")
}
