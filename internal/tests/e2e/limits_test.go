package e2e

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The service throttles and the client waits: no call fails, and nothing is done twice.
func TestE2ERateLimitAbsorbed(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{RateLimit: 5, RateWindow: time.Minute, FrozenClock: true})
	config := s.Config()
	config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
		if a.StatusCode == 429 {
			s.Advance(time.Minute) // the window ends
		}
	}}
	client := harness.NewClient(t, config)
	from, to := s.seed("100.00"), s.seed("0")
	faults := make([]error, 16)
	var group sync.WaitGroup
	for i := range faults {
		group.Go(func() { faults[i] = done(client.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "1.00"))) })
	}
	group.Wait()
	require.NoError(t, errors.Join(faults...))
	require.Contains(t, s.statuses(harness.TransferOperation), 429)
	s.holds(from, "84.00")
	s.holds(to, "16.00")
}

// A throttled call that cannot wait so long is not processed, and can be repeated later.
func TestE2ERateLimitOutlastsTheCall(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{RateLimit: 1, RateWindow: time.Minute, RetryAfter: true, FrozenClock: true})
	config := s.Config()
	config.Retry.MaxRetryAfter = 30 * time.Second
	client := harness.NewClient(t, config)
	from, to := s.seed("100.00"), s.seed("0")
	_, err := client.Token(t.Context()) // uses up the window
	require.NoError(t, err)
	_, err = client.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "1.00"))
	response := failed(t, err, notProcessed, 429, "rate_limit_exceeded")
	require.Equal(t, time.Minute, response.RetryAfter)
	require.Equal(t, []int{429}, s.statuses(harness.TransferOperation))
	s.holds(from, "100.00")
}

// A proxy may replace the media type by application/json: the response is valid.
func TestE2EMediaTypeSubstituted(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	s.Inject("GET /accounts/{id}/status", prepaidtest.RespondBody(200, "application/json", `{"balance":"1.50","status":"some_day","extra":1}`))
	account, err := s.client.Accounts.Summary(t.Context(), "a")
	require.NoError(t, err)
	require.Equal(t, prepaid.MustAmount("1.50"), account.Balance)
	require.False(t, account.Status.Known())
}

// A foreign response never counts as the service's, whatever its status is.
func TestE2EForeignResponses(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]prepaidtest.Fault{
		"page":       prepaidtest.RespondBody(200, "text/html", "<html>sign in</html>"),
		"null":       prepaidtest.RespondBody(200, "application/json", "null"),
		"no balance": prepaidtest.RespondBody(200, "application/json", `{"status":"active"}`),
		"nothing":    prepaidtest.RespondBody(200, "application/json", ""),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			from, to := s.seed("100.00"), s.seed("0")
			s.Inject("GET /accounts/{id}/status", fault)
			_, err := s.client.Accounts.Summary(t.Context(), from)
			response := harness.As[*prepaid.DecodeError](t, err)
			require.Equal(t, 200, response.StatusCode)
			require.NotContains(t, err.Error(), "sign in")

			s.Inject(harness.TransferOperation, fault)
			_, err = s.client.Accounts.Transfer(t.Context(), from, harness.TransferTo(to, "1.00"))
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
			s.holds(from, "100.00")
		})
	}
}

// An attempt that takes too long is given up, and the transfer is replayed: one movement, although both arrive.
func TestE2EAttemptTimeout(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	config := s.Config()
	config.AttemptTimeout, config.Retry.InFlightWait = 300*time.Millisecond, time.Second
	client := harness.NewClient(t, config)
	from, to := s.seed("100.00"), s.seed("0")
	params := harness.TransferTo(to, "25.50")
	s.Inject(harness.TransferOperation, prepaidtest.Delay(600*time.Millisecond))
	_, err := client.Accounts.Transfer(t.Context(), from, params)
	require.NoError(t, err)
	require.Eventually(t, func() bool { return len(s.statuses(harness.TransferOperation)) >= 2 }, 5*time.Second, time.Millisecond)
	require.Equal(t, 1, s.Movements(params.RequestID))
	s.holds(from, "74.50")
}

// If a caller gives up during the request, the outcome is unknown.
func TestE2ECallerGivesUp(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	from, to := s.seed("100.00"), s.seed("0")
	_, err := s.client.Token(t.Context())
	require.NoError(t, err)
	s.Inject(harness.TransferOperation, prepaidtest.Delay(time.Hour))
	s.Inject("GET /accounts/{id}/status", prepaidtest.Delay(time.Hour))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var group sync.WaitGroup
	var transfer, read error
	group.Go(func() { transfer = done(s.client.Accounts.Transfer(ctx, from, harness.TransferTo(to, "25.50"))) })
	group.Go(func() { read = done(s.client.Accounts.Summary(ctx, from)) })
	require.Eventually(t, func() bool { return s.FaultsLeft() == 0 }, 10*time.Second, time.Millisecond) // both have arrived
	cancel()
	group.Wait()
	for _, err := range []error{transfer, read} {
		require.ErrorIs(t, err, context.Canceled)
	}
	require.Equal(t, unknown, prepaid.OutcomeOf(transfer))
	require.Equal(t, notProcessed, prepaid.OutcomeOf(read))
}
