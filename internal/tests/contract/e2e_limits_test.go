package contract

import (
	"context"
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The service throttles and the client waits: no call fails, and nothing is done twice.
func TestE2ERateLimitAbsorbed(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{RateLimit: 5, RateWindow: time.Minute, FrozenClock: true}, func(t *testing.T, s *stage) {
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
	})
}

// If a caller gives up during the request, the outcome is unknown.
func TestE2ECallerGivesUp(t *testing.T) {
	t.Parallel()
	onStage(t, prepaidtest.Options{}, func(t *testing.T, s *stage) {
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
		synctest.Wait()
		require.Zero(t, s.FaultsLeft(), "both have arrived")
		cancel()
		group.Wait()
		for _, err := range []error{transfer, read} {
			require.ErrorIs(t, err, context.Canceled)
		}
		require.Equal(t, unknown, prepaid.OutcomeOf(transfer))
		require.Equal(t, notProcessed, prepaid.OutcomeOf(read))
	})
}

// The client of an emulator on a port remembers no failure: a fault that a test arms for the token counts for the next call only.
func TestE2EFailedTokenIsNotHeld(t *testing.T) {
	t.Parallel()
	for _, response := range []prepaidtest.Fault{prepaidtest.Respond(401, "invalid_client"), prepaidtest.Respond(400, "invalid_request")} {
		server := prepaidtest.NewServer(t, prepaidtest.Options{})
		config := server.Config()
		config.AttemptTimeout = time.Minute
		client := harness.NewClient(t, config)
		for range 3 {
			server.Inject("POST /token", response)
			require.ErrorAs(t, done(client.Token(t.Context())), new(*prepaid.TokenError))
			require.Zero(t, server.FaultsLeft(), "the token was requested")
		}
		require.NoError(t, done(client.Token(t.Context())))
	}
}
