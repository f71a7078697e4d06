package faults

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

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
