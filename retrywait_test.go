package prepaid_test

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// onClock runs a call on a fake clock and returns how long it took.
func onClock(t *testing.T, service http.RoundTripper, adjust func(*prepaid.Config), call func(context.Context, *prepaid.Client) error) (time.Duration, error) {
	t.Helper()
	config := clockConfig(service)
	if adjust != nil {
		adjust(&config)
	}
	client := newCoreClient(t, config)
	began := time.Now()
	err := call(t.Context(), client)
	return time.Since(began), err
}

// The pause doubles from MinWait to MaxWait, half of it jitter, and MaxAttempts bounds the requests.
func TestBackOff(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := scripted(broken(errCut))
		_, err := onClock(t, service, func(c *prepaid.Config) {
			c.Retry = prepaid.RetryPolicy{MaxAttempts: 6, MinWait: time.Second, MaxWait: 5 * time.Second}
		}, opGet().call)
		require.Equal(t, 6, callError(t, err).Attempts)
		gaps := service.gaps()
		require.Len(t, gaps, 5)
		for i, ceiling := range []time.Duration{time.Second, 2 * time.Second, 4 * time.Second, 5 * time.Second, 5 * time.Second} {
			require.LessOrEqual(t, gaps[i], ceiling)
			require.GreaterOrEqual(t, gaps[i], ceiling/2)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		service := scripted(broken(errCut))
		_, _ = onClock(t, service, nil, opGet().call)
		require.Len(t, service.requests(), 4, "the default")
	})
}

// A pause that would end after the deadline is not begun: the answer that is there is returned at once.
func TestDeadlineIsComparedBeforeSleeping(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault    step
		op       coreOp
		deadline time.Duration
		is       error
		outcome  prepaid.Outcome
	}{
		"Retry-After of a 503": {answered(503, "", "", "Retry-After: 5"), opGet(), 5 * time.Second, prepaid.ErrServer, prepaid.OutcomeNotProcessed},
		"Retry-After of a 429": {serviceError(429, "slow", "Retry-After: 9"), opCreate(), 9 * time.Second, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"a bare 429":           {serviceError(429, "slow"), opGet(), 2 * time.Second, prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"in-flight wait":       {broken(errCut), opTransfer(), 10 * time.Second, errCut, prepaid.OutcomeUnknown},
		"back-off":             {broken(errCut), opGet(), 100 * time.Millisecond, errCut, prepaid.OutcomeNotProcessed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := scripted(tc.fault)
				took, err := onClock(t, service, nil, func(ctx context.Context, c *prepaid.Client) error {
					ctx, cancel := context.WithTimeout(ctx, tc.deadline)
					defer cancel()
					return tc.op.call(ctx, c)
				})
				failure := callError(t, err)
				require.Zero(t, took, "no time to lose")
				require.Len(t, service.requests(), 1)
				require.ErrorIs(t, err, tc.is)
				require.NotErrorIs(t, err, context.DeadlineExceeded, "there is time left")
				require.Equal(t, tc.outcome, failure.Outcome)
			})
		})
	}
}

// A context that ends during a pause ends the call at once, and the last answer is kept.
func TestCancelDuringBackOff(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fault   step
		op      coreOp
		is      error
		outcome prepaid.Outcome
	}{
		"503 of a read":  {answered(503, "", "", "Retry-After: 8"), opGet(), prepaid.ErrServer, prepaid.OutcomeNotProcessed},
		"429":            {serviceError(429, "slow", "Retry-After: 8"), opCreate(), prepaid.ErrRateLimited, prepaid.OutcomeNotProcessed},
		"503 of a write": {answered(503, "", "", "Retry-After: 8"), opPlastic(), prepaid.ErrServer, prepaid.OutcomeUnknown},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := scripted(tc.fault)
				took, err := onClock(t, service, nil, func(ctx context.Context, c *prepaid.Client) error {
					ctx, cancel := context.WithCancel(ctx)
					time.AfterFunc(3*time.Second, cancel)
					return tc.op.call(ctx, c)
				})
				require.Equal(t, 3*time.Second, took)
				require.Len(t, service.requests(), 1)
				require.ErrorIs(t, err, context.Canceled)
				require.ErrorIs(t, err, tc.is)
				require.Equal(t, tc.outcome, callError(t, err).Outcome)
			})
		})
	}
}

// A context that has ended sends nothing.
func TestEndedContextSendsNothing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, op := range coreOps() {
		service := scripted(wellAnswered(op))
		config := coreConfig("https://cards.example")
		config.Transport = service
		err := op.call(ctx, newCoreClient(t, config))
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
		require.Empty(t, service.requests())
	}
}

// Retry-After is followed as seconds or as a date, ignored when it is nonsense, and a long one ends the call.
func TestRetryAfter(t *testing.T) {
	t.Parallel()
	const own = -1 // the client's own choice: 2.5 to 10 s
	for name, tc := range map[string]struct {
		header string
		wait   time.Duration
	}{
		"seconds":    {"7", 7 * time.Second},
		"a date":     {"Sat, 01 Jan 2000 00:00:04 GMT", 4 * time.Second},
		"a past one": {"Fri, 31 Dec 1999 00:00:00 GMT", own},
		"zero":       {"0", own},
		"negative":   {"-5", own},
		"garbage":    {"soon", own},
		"a fraction": {"1.5", own},
		"absent":     {"", own},
		"overflow":   {"99999999999999999999999", own},
		"16 s":       {"16", 0},
		"a year":     {"31536000", 0},
		"max int":    {"9223372036854775807", 0},
		"far date":   {"Fri, 31 Dec 9999 23:59:59 GMT", 0},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				var headers []string
				if tc.header != "" {
					headers = []string{"Retry-After: " + tc.header}
				}
				service := scripted(serviceError(429, "slow", headers...), wellAnswered(opCreate()))
				took, err := onClock(t, service, nil, opCreate().call)
				switch tc.wait {
				case 0:
					require.ErrorIs(t, err, prepaid.ErrRateLimited)
					require.Zero(t, took)
					require.Len(t, service.requests(), 1)
					failure, ok := errors.AsType[*prepaid.APIError](err)
					require.True(t, ok)
					require.Greater(t, failure.RetryAfter, 15*time.Second, "told to the caller")
				case own:
					require.NoError(t, err)
					require.GreaterOrEqual(t, took, 2500*time.Millisecond)
					require.LessOrEqual(t, took, 10*time.Second)
				default:
					require.NoError(t, err)
					require.Equal(t, tc.wait, took)
				}
			})
		})
	}
}

// MaxRetryAfter is the caller's to set, also for a 503.
func TestMaxRetryAfter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		busy := answered(503, "", "", "Retry-After: 40")
		took, err := onClock(t, scripted(busy, wellAnswered(opGet())), nil, opGet().call)
		require.ErrorIs(t, err, prepaid.ErrServer)
		require.Zero(t, took)
		took, err = onClock(t, scripted(busy, wellAnswered(opGet())), func(c *prepaid.Config) {
			c.Retry.MaxRetryAfter = time.Minute
		}, opGet().call)
		require.NoError(t, err)
		require.Equal(t, 40*time.Second, took)
	})
}

// 429s cost time and not attempts: MaxThrottleWait bounds the time from the first to the last attempt.
func TestMaxThrottleWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := scripted(serviceError(429, "slow", "Retry-After: 10"))
		took, err := onClock(t, service, nil, opCreate().call)
		require.Equal(t, time.Minute, took)
		require.Len(t, service.requests(), 7)
		require.Equal(t, 7, callError(t, err).Attempts)
		require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
	})
	synctest.Test(t, func(t *testing.T) {
		service := scripted(serviceError(429, "slow", "Retry-After: 10"))
		took, _ := onClock(t, service, func(c *prepaid.Config) { c.Retry.MaxThrottleWait = 25 * time.Second }, opCreate().call)
		require.Equal(t, 20*time.Second, took)
	})
	synctest.Test(t, func(t *testing.T) { // counted from the first 429, not from the start of the call
		service := scripted(after(29*time.Second, serviceError(429, "slow", "Retry-After: 10")))
		took, _ := onClock(t, service, func(c *prepaid.Config) { c.Retry.MaxThrottleWait = 15 * time.Second }, opCreate().call)
		require.Equal(t, 29*time.Second+10*time.Second+29*time.Second, took)
	})
}

// With one attempt nothing is sent again, except what was throttled or met a lapsed token.
func TestMaxAttemptsOne(t *testing.T) {
	t.Parallel()
	once := func(c *prepaid.Config) { c.Retry.MaxAttempts = 1 }
	for name, fault := range map[string]step{
		"503": answered(503, "", ""), "cut off": broken(errCut), "unreachable": unreachable(errCut),
	} {
		for _, op := range coreOps() {
			t.Run(name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					service := scripted(fault, wellAnswered(op))
					took, err := onClock(t, service, once, op.call)
					require.Error(t, err)
					require.Zero(t, took)
					require.Len(t, service.requests(), 1)
				})
			})
		}
	}
	synctest.Test(t, func(t *testing.T) { // or a lapsed token, which would lapse again with every call
		service := scripted(serviceError(401, "x"), wellAnswered(opTransfer()))
		took, err := onClock(t, service, once, opTransfer().call)
		require.NoError(t, err)
		require.Zero(t, took)
		require.Len(t, service.requests(), 2)
	})
	synctest.Test(t, func(t *testing.T) {
		service := scripted(serviceError(429, "slow", "Retry-After: 3"), wellAnswered(opTransfer()))
		took, err := onClock(t, service, once, opTransfer().call)
		require.NoError(t, err)
		require.Equal(t, 3*time.Second, took)
	})
}

// The built-in limiter refuses at once what could not be sent before the deadline, and sends nothing.
func TestLocalThrottle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := scripted(serviceError(429, "slow", "Retry-After: 10"), wellAnswered(opGet()))
		config := clockConfig(service)
		config.Limiter = nil
		config.Retry.MaxThrottleWait = time.Nanosecond
		client := newCoreClient(t, config)
		require.ErrorIs(t, opGet().call(t.Context(), client), prepaid.ErrRateLimited)

		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		began := time.Now()
		err := opTransfer().call(ctx, client)
		failure := callError(t, err)
		require.Zero(t, time.Since(began))
		require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
		require.ErrorIs(t, err, prepaid.ErrRateLimited)
		throttled, ok := errors.AsType[*prepaid.ThrottledError](err)
		require.True(t, ok)
		require.Equal(t, 10*time.Second, throttled.Wait)
		require.Zero(t, failure.Attempts)
		require.Len(t, service.requests(), 1, "the pause of one 429 is everyone's")

		require.NoError(t, opGet().call(t.Context(), client))
		require.Equal(t, 10*time.Second, service.gaps()[0])
	})
}

// A limiter's own error is neither lost nor taken for an answer.
func TestForeignLimiterError(t *testing.T) {
	t.Parallel()
	errBroken := errors.New("limiter out of order")
	config := coreConfig("https://cards.example")
	service := scripted(wellAnswered(opGet()))
	config.Transport = service
	config.Limiter = failingLimiter{errBroken}
	err := opGet().call(t.Context(), newCoreClient(t, config))
	require.ErrorIs(t, err, errBroken)
	require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
	require.Empty(t, service.requests())
}

type failingLimiter struct{ err error }

func (l failingLimiter) Acquire(context.Context, prepaid.Lane) (prepaid.Slot, error) {
	return nil, l.err
}
