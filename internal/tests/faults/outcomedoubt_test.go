package faults

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// onceClient is a client on a fake clock that makes one attempt of each call.
func onceClient(t *testing.T, service http.RoundTripper) *prepaid.Client {
	t.Helper()
	config := harness.ClockConfig(service)
	config.Retry.MaxAttempts = 1
	return harness.NewClient(t, config)
}

// The service's response to other params proves nothing about the first, and a 200 would be the first result: a
// request id of unknown outcome is not sent for another payment.
func TestDoubtIsOfOnePayment(t *testing.T) {
	t.Parallel()
	first := prepaid.TransferParams{
		RequestID: "pay-1", Amount: prepaid.MustAmount("25.50"), SourceReference: "out", DestinationReference: "in",
		DestinationAccountID: "acc-2",
	}
	amount, destination := first, first
	amount.Amount, destination.DestinationAccountID = prepaid.MustAmount("25.51"), "acc-3"
	for name, other := range map[string]struct {
		source prepaid.AccountID
		params prepaid.TransferParams
	}{"amount": {"acc-1", amount}, "destination": {"acc-1", destination}, "source": {"acc-9", first}} {
		for second, response := range map[string]harness.Step{
			"the service's 400": harness.ServiceError(400, "invalid_request"), "success": harness.Succeed(harness.OpTransfer()),
		} {
			t.Run(name+", "+second, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					service := harness.NewScript(harness.Broken(harness.ErrCut), response)
					client := onceClient(t, service)
					_, err := client.Accounts.Transfer(t.Context(), "acc-1", first)
					require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
					_, err = client.Accounts.Transfer(t.Context(), other.source, other.params)
					require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
					require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err), "not sent, and never to be")
					require.False(t, prepaid.ProvesNotApplied(err, time.Unix(0, 0)))
					require.Len(t, service.Requests(), 1)

					_, err = client.Accounts.Transfer(t.Context(), "acc-1", first)
					require.NotEqual(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), "its own params settle it")
					_, err = client.Accounts.Transfer(t.Context(), other.source, other.params)
					require.Equal(t, second == "success", errors.Is(err, prepaid.ErrRequestIDReused),
						"a payment that was made keeps its id; one that was refused does not")
				})
			})
		}
	}
}

// Nor is it sent for another payment that waited for its turn while the first moved the money.
func TestTurnIsOfOnePayment(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.After(3*time.Second, harness.Succeed(harness.OpTransfer())))
		client := harness.NewClient(t, harness.ClockConfig(service))
		var calls sync.WaitGroup
		calls.Go(func() { require.NoError(t, harness.OpTransfer().Call(t.Context(), client)) })
		synctest.Wait()
		_, err := client.Accounts.Transfer(t.Context(), "acc-1", prepaid.TransferParams{
			RequestID: "pay-1", Amount: prepaid.Cents(1), SourceReference: "out", DestinationReference: "in", DestinationAccountID: "acc-2",
		})
		calls.Wait()
		require.ErrorIs(t, err, prepaid.ErrRequestIDReused)
		require.Len(t, service.Requests(), 1)
	})
}

// Whether transfers and direct entries share their request ids is not known: an ID of unknown outcome is sent for neither.
func TestDoubtIsOfBothOperations(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		client := onceClient(t, service)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(harness.OpTransfer().Call(t.Context(), client)))
		require.ErrorIs(t, opPayout().Call(t.Context(), client), prepaid.ErrRequestIDReused)
		require.Len(t, service.Requests(), 1)
	})
}

// A refusal before the second attempt leaves does not hide the service's response to the first.
func TestLastResponseStaysReadable(t *testing.T) {
	t.Parallel()
	admitted, full := false, errors.New("full")
	config := harness.NewScript(harness.ServiceError(http.StatusServiceUnavailable, "busy")).Config()
	config.Limiter = harness.LimiterFunc(func(context.Context) error {
		if admitted {
			return full
		}
		admitted = true
		return nil
	})
	err := harness.OpGet().Call(t.Context(), harness.NewClient(t, config))
	require.ErrorIs(t, err, full)
	response := harness.As[*prepaid.APIError](t, err)
	require.Equal(t, http.StatusServiceUnavailable, response.StatusCode)
	require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
}

// A repeat after an unknown outcome waits until the first request has had time to finish.
func TestRepeatAfterUnknownWaits(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		client := onceClient(t, service)
		unknown := harness.CallError(t, harness.OpTransfer().Call(t.Context(), client))
		require.Equal(t, prepaid.OutcomeUnknown, unknown.Outcome)
		require.Equal(t, unknown.LastSent.Add(40*time.Second), unknown.NotBefore)
		require.Equal(t, unknown.NotBefore, client.Accounts.NotBefore(unknown.LastSent))

		ctx, cancel := context.WithTimeout(t.Context(), 40*time.Second) // no room for the wait: not begun, nothing sent
		defer cancel()
		began := time.Now()
		failure := harness.CallError(t, harness.OpTransfer().Call(ctx, client))
		require.Zero(t, time.Since(began))
		require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome, "the first may have been applied")
		require.ErrorIs(t, failure, context.DeadlineExceeded)
		require.EqualValues(t, "pay-1", failure.RequestID)
		require.Equal(t, unknown.NotBefore, failure.NotBefore)
		require.Len(t, service.Requests(), 1)

		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		require.Equal(t, []time.Duration{40 * time.Second}, service.Gaps())
		began = time.Now()
		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		require.Zero(t, time.Since(began), "no doubt is left")
	})
}

// A caller's limiter that panics does not keep the turn.
func TestPanicGivesTheTurnBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
		config := harness.ClockConfig(service)
		first := true
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			if first {
				first = false
				panic("the caller's own")
			}
			return nil
		})
		client := harness.NewClient(t, config)
		require.Panics(t, func() { _ = harness.OpTransfer().Call(t.Context(), client) })
		began := time.Now()
		require.NoError(t, harness.OpTransfer().Call(t.Context(), client))
		require.Equal(t, 40*time.Second, time.Since(began), "as after an unknown outcome")
		require.Len(t, service.Requests(), 1)
	})
}
