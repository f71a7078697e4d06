package faults

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// feedbackLimiter records the feedback for each slot.
type feedbackLimiter struct {
	mu       sync.Mutex
	acquired int
	lanes    []ratelimit.Lane
	feedback []ratelimit.Feedback
}

func (l *feedbackLimiter) Acquire(_ context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acquired++
	l.lanes = append(l.lanes, lane)
	return feedbackSlot{l}, nil
}

type feedbackSlot struct{ limiter *feedbackLimiter }

func (s feedbackSlot) Release(f ratelimit.Feedback) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.limiter.feedback = append(s.limiter.feedback, f)
}

// Each attempt takes one slot and gives it back once, with the limiter's feedback.
func TestLimiterFeedback(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op    harness.Op
		steps []harness.Step
		want  []ratelimit.Feedback
	}{
		"success":        {harness.OpGet(), []harness.Step{harness.Succeed(harness.OpGet())}, []ratelimit.Feedback{{StatusCode: 200}}},
		"cut off":        {harness.OpCreate(), []harness.Step{harness.Broken(harness.ErrCut)}, []ratelimit.Feedback{{}}},
		"a panic":        {harness.OpCreate(), []harness.Step{func(*http.Request) (*http.Response, error) { panic("x") }}, []ratelimit.Feedback{{}}},
		"unreachable":    {harness.OpCreate(), []harness.Step{harness.Unreachable(syscall.ECONNREFUSED), harness.Succeed(harness.OpCreate())}, []ratelimit.Feedback{{NotSent: true}, {StatusCode: 201}}},
		"429":            {harness.OpGet(), []harness.Step{harness.ServiceError(429, "slow", "Retry-After: 7"), harness.Succeed(harness.OpGet())}, []ratelimit.Feedback{{StatusCode: 429, RetryAfter: 7 * time.Second}, {StatusCode: 200}}},
		"401":            {harness.OpGet(), []harness.Step{harness.ServiceError(401, "x"), harness.Succeed(harness.OpGet())}, []ratelimit.Feedback{{StatusCode: 401}, {StatusCode: 200}}},
		"a timeout":      {harness.OpRedeem(), []harness.Step{harness.After(time.Hour, harness.Succeed(harness.OpRedeem()))}, []ratelimit.Feedback{{}}},
		"a bad response": {harness.OpRedeem(), []harness.Step{harness.Respond(200, harness.VendorJSON, "{")}, []ratelimit.Feedback{{StatusCode: 200}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limiter := &feedbackLimiter{}
				config := harness.ClockConfig(harness.NewScript(tc.steps...))
				config.Limiter = limiter
				_ = tc.op.Call(t.Context(), harness.NewClient(t, config))
				require.Equal(t, tc.want, limiter.feedback)
				require.Equal(t, len(tc.want), limiter.acquired)
			})
		})
	}
}

// Money goes before other calls, and polls come after them; the token's own lane is not shown to a caller's limiter.
func TestLanes(t *testing.T) {
	t.Parallel()
	lanes := map[string]ratelimit.Lane{"Accounts.Transfer": ratelimit.Money, "Funding.Redeem": ratelimit.Money}
	for _, op := range harness.Ops() {
		synctest.Test(t, func(t *testing.T) {
			limiter := &feedbackLimiter{}
			config := harness.CredentialsConfig(harness.Split{Tokens: harness.NewScript(harness.Grant(1, "600")), Calls: harness.NewScript(harness.Succeed(op))})
			config.Limiter = limiter
			require.NoError(t, op.Call(t.Context(), harness.NewClient(t, config)))
			want, ok := lanes[op.Name]
			if !ok {
				want = ratelimit.Call
			}
			require.Equal(t, []ratelimit.Lane{ratelimit.Money, want}, limiter.lanes, op.Name)
		})
	}
	limiter := &feedbackLimiter{}
	config := harness.Config("https://cards.example")
	config.Limiter, config.Transport = limiter, harness.NewScript(notReady())
	_, err := harness.NewClient(t, config).Reporting.Result(t.Context(), aRun)
	require.ErrorIs(t, err, prepaid.ErrReportNotReady)
	require.Equal(t, []ratelimit.Lane{ratelimit.Bulk}, limiter.lanes)
}

// A throttled call of any class is retried; if it stays throttled, it was not processed.
func TestEveryClassWaitsOutThrottling(t *testing.T) {
	t.Parallel()
	for _, op := range harness.Ops() {
		for name, headers := range map[string][]string{"specified": {"Retry-After: 12"}, "unspecified": nil} {
			t.Run(op.Name+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					slow := harness.ServiceError(429, "slow", headers...)
					for count := range 3 {
						steps := slices.Repeat([]harness.Step{slow}, count)
						steps = append(steps, harness.Succeed(op))
						service := harness.NewScript(steps...)
						require.NoError(t, op.Call(t.Context(), harness.NewClient(t, harness.ClockConfig(service))))
						require.Len(t, service.Requests(), count+1)
					}
					err := op.Call(t.Context(), harness.NewClient(t, harness.ClockConfig(harness.NewScript(slow))))
					require.ErrorIs(t, err, prepaid.ErrRateLimited)
					require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
				})
			})
		}
	}
}

// Only the change to active is never repeated late: a repeat could lift a newer block.
func TestSetStatusClass(t *testing.T) {
	t.Parallel()
	for status, calls := range map[prepaid.AccountStatus]int{
		prepaid.AccountStatusActive: 1, prepaid.AccountStatusLostOrStolen: 2, prepaid.AccountStatusClosed: 2,
	} {
		for _, fault := range []harness.Step{harness.Broken(harness.ErrCut), harness.Respond(503, "", "")} {
			service := harness.NewScript(fault, harness.Respond(200, "", ""))
			err := service.Client(t).Accounts.SetStatus(t.Context(), "acc-1", prepaid.SetStatusParams{Status: status})
			require.Len(t, service.Requests(), calls, status)
			require.Equal(t, calls == 1, err != nil)
			require.Equal(t, calls == 1, prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
		}
	}
}
