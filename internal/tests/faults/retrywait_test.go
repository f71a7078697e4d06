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

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// onClock runs a call on a fake clock and returns how long it took.
func onClock(t *testing.T, service http.RoundTripper, adjust func(*prepaid.Config), call func(context.Context, *prepaid.Client) error) (time.Duration, error) {
	t.Helper()
	config := harness.ClockConfig(service)
	if adjust != nil {
		adjust(&config)
	}
	client := harness.NewClient(t, config)
	began := time.Now()
	err := call(t.Context(), client)
	return time.Since(began), err
}

// The pause doubles from MinWait to MaxWait, half of it jitter, and MaxAttempts bounds the requests.
func TestBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut))
		_, err := onClock(t, service, func(c *prepaid.Config) {
			c.Retry = prepaid.RetryPolicy{MaxAttempts: 6, MinWait: time.Second, MaxWait: 5 * time.Second}
		}, harness.OpGet().Call)
		require.Equal(t, 6, harness.CallError(t, err).Attempts)
		gaps := service.Gaps()
		require.Len(t, gaps, 5)
		for i, ceiling := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			require.LessOrEqual(t, gaps[i], ceiling)
			require.GreaterOrEqual(t, gaps[i], ceiling/2)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut))
		_, _ = onClock(t, service, nil, harness.OpGet().Call)
		require.Len(t, service.Requests(), 4, "the default")
	})
}

// A pause that would end after the deadline is not begun: the last response is returned at once.
func TestDeadlineIsComparedBeforeSleeping(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault    harness.Step
		op       harness.Op
		deadline time.Duration
		is       error
		outcome  prepaid.Outcome
	}{
		"Retry-After of a 503": {harness.Respond(503, "", "", "Retry-After: 5"), harness.OpGet(), 5 * time.Second, prepaid.ErrServer, prepaid.OutcomeNotProcessed},
		"Retry-After of a 429": {harness.ServiceError(429, "slow", "Retry-After: 9"), harness.OpCreate(), 9 * time.Second, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"a bare 429":           {harness.ServiceError(429, "slow"), harness.OpGet(), 2 * time.Second, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"in-flight wait":       {harness.Broken(harness.ErrCut), harness.OpTransfer(), 10 * time.Second, harness.ErrCut, prepaid.OutcomeUnknown},
		"back-off":             {harness.Broken(harness.ErrCut), harness.OpGet(), 100 * time.Millisecond, harness.ErrCut, prepaid.OutcomeNotProcessed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(tc.fault)
				took, err := onClock(t, service, nil, func(ctx context.Context, c *prepaid.Client) error {
					ctx, cancel := context.WithTimeout(ctx, tc.deadline)
					defer cancel()
					return tc.op.Call(ctx, c)
				})
				failure := harness.CallError(t, err)
				require.Zero(t, took, "no time to lose")
				require.Len(t, service.Requests(), 1)
				require.ErrorIs(t, err, tc.is)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "there is time left")
				require.Equal(t, tc.outcome, failure.Outcome)
			})
		})
	}
}

// A context that ends during a pause ends the call at once, and the last response is kept.
func TestCancelDuringBackOff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault   harness.Step
		op      harness.Op
		is      error
		outcome prepaid.Outcome
	}{
		"503 of a read":  {harness.Respond(503, "", "", "Retry-After: 8"), harness.OpGet(), prepaid.ErrServer, prepaid.OutcomeNotProcessed},
		"429":            {harness.ServiceError(429, "slow", "Retry-After: 8"), harness.OpCreate(), prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"503 of a write": {harness.Respond(503, "", "", "Retry-After: 8"), harness.OpPlastic(), prepaid.ErrServer, prepaid.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(tc.fault)
				took, err := onClock(t, service, nil, func(ctx context.Context, c *prepaid.Client) error {
					ctx, cancel := context.WithCancel(ctx)
					time.AfterFunc(3*time.Second, cancel)
					return tc.op.Call(ctx, c)
				})
				require.Equal(t, 3*time.Second, took)
				require.Len(t, service.Requests(), 1)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, tc.is)
				require.Equal(t, tc.outcome, harness.CallError(t, err).Outcome)
			})
		})
	}
}

// MaxRetryAfter is the caller's to set, also for a 503.
func TestMaxRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := harness.Respond(503, "", "", "Retry-After: 40")
		took, err := onClock(t, harness.NewScript(busy, harness.Succeed(harness.OpGet())), nil, harness.OpGet().Call)
		require.ErrorIs(t, err, prepaid.ErrServer)
		require.Zero(t, took)
		took, err = onClock(t, harness.NewScript(busy, harness.Succeed(harness.OpGet())), func(c *prepaid.Config) {
			c.Retry.MaxRetryAfter = time.Minute
		}, harness.OpGet().Call)
		require.NoError(t, err)
		require.Equal(t, 40*time.Second, took)
	})
}

// 429s cost time and not attempts: MaxThrottleWait bounds the time from the first to the last attempt.
func TestMaxThrottleWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.ServiceError(429, "slow", "Retry-After: 10"))
		took, err := onClock(t, service, nil, harness.OpCreate().Call)
		require.Equal(t, time.Minute, took)
		require.Len(t, service.Requests(), 7)
		require.Equal(t, 7, harness.CallError(t, err).Attempts)
		require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.ServiceError(429, "slow", "Retry-After: 10"))
		took, _ := onClock(t, service, func(c *prepaid.Config) { c.Retry.MaxThrottleWait = 25 * time.Second }, harness.OpCreate().Call)
		require.Equal(t, 20*time.Second, took)
	})
	synctest.Test(t, func(t *testing.T) { // counted from the first 429, not from the start of the call
		service := harness.NewScript(harness.After(29*time.Second, harness.ServiceError(429, "slow", "Retry-After: 10")))
		took, _ := onClock(t, service, func(c *prepaid.Config) { c.Retry.MaxThrottleWait = 15 * time.Second }, harness.OpCreate().Call)
		require.Equal(t, 29*time.Second+10*time.Second+29*time.Second, took)
	})
}

// With one attempt, requests are sent again that were throttled or met a lapsed token.
func TestMaxAttemptsOne(t *testing.T) {
	t.Parallel()
	once := func(c *prepaid.Config) { c.Retry.MaxAttempts = 1 }
	synctest.Test(t, func(t *testing.T) { // a token would lapse again with every call
		service := harness.NewScript(harness.ServiceError(401, "x"), harness.Succeed(harness.OpTransfer()))
		took, err := onClock(t, service, once, harness.OpTransfer().Call)
		require.NoError(t, err)
		require.Zero(t, took)
		require.Len(t, service.Requests(), 2)
	})
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.ServiceError(429, "slow", "Retry-After: 3"), harness.Succeed(harness.OpTransfer()))
		took, err := onClock(t, service, once, harness.OpTransfer().Call)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, took)
	})
}

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
