package faults

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// thawed is the context of a process that was frozen until after the deadline: no timer has fired yet.
type thawed struct {
	context.Context //nolint:containedctx // it is one

	deadline time.Time
}

func (c thawed) Deadline() (time.Time, bool) { return c.deadline, true }

// lateLimiter admits an attempt after a while, whatever the context says.
type lateLimiter struct {
	feedbackLimiter

	after time.Duration
}

func (l *lateLimiter) Acquire(ctx context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	time.Sleep(l.after)
	return l.feedbackLimiter.Acquire(ctx, lane)
}

// Nothing is sent at or after the deadline, and the error says so, whether or not a timer has fired.
func TestNothingLeavesAfterTheDeadline(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		after   time.Duration // until the limiter admits it
		left    int           // requests
		earlier bool          // another process sent it with unknown outcome
		outcome prepaid.Outcome
	}{
		"in time":            {time.Second - 1, 1, false, prepaid.OutcomeApplied},
		"at the deadline":    {time.Second, 0, false, prepaid.OutcomeNotProcessed},
		"late":               {time.Minute, 0, false, prepaid.OutcomeNotProcessed},
		"late, sent earlier": {time.Minute, 0, true, prepaid.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, fired := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					service, limiter := harness.NewScript(harness.Succeed(harness.OpTransfer())), &lateLimiter{after: tc.after}
					config := harness.ClockConfig(service)
					config.Limiter = limiter
					ctx, cancel := context.WithTimeout(t.Context(), time.Second)
					defer cancel()
					if !fired {
						ctx = thawed{t.Context(), time.Now().Add(time.Second)}
					}
					params := harness.ValidTransfer()
					if tc.earlier {
						params.LastSent = time.Now().Add(-time.Hour)
					}
					_, err := harness.NewClient(t, config).Accounts.Transfer(ctx, "1", params)
					require.Equal(t, tc.outcome, prepaid.OutcomeOf(err), "%v", err)
					require.Len(t, service.Requests(), tc.left)
					if tc.left == 0 {
						require.ErrorIs(t, err, context.DeadlineExceeded)
						require.Zero(t, harness.CallError(t, err).Attempts)
					}
					if tc.left == 0 && !tc.earlier { // otherwise it waits for a response first, and takes no slot
						require.Equal(t, []ratelimit.Feedback{{NotSent: true}}, limiter.feedback)
					}
				})
			}
		})
	}
}
