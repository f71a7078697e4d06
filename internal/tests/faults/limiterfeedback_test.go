package faults

import (
	"context"
	"net/http"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// feedbackLimiter records the lanes and the feedback of its slots.
type feedbackLimiter struct {
	mu       sync.Mutex
	lanes    []ratelimit.Lane
	feedback []ratelimit.Feedback
}

func (l *feedbackLimiter) Acquire(_ context.Context, lane ratelimit.Lane) (ratelimit.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lanes = append(l.lanes, lane)
	return l, nil
}

func (l *feedbackLimiter) Release(f ratelimit.Feedback) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.feedback = append(l.feedback, f)
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
				require.Len(t, limiter.lanes, len(tc.want))
			})
		})
	}
}
