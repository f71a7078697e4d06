package prepaid_test

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
)

// feedbackLimiter notes how each slot came back.
type feedbackLimiter struct {
	mu       sync.Mutex
	acquired int
	lanes    []prepaid.Lane
	feedback []prepaid.Feedback
}

func (l *feedbackLimiter) Acquire(_ context.Context, lane prepaid.Lane) (prepaid.Slot, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.acquired++
	l.lanes = append(l.lanes, lane)
	return feedbackSlot{l}, nil
}

type feedbackSlot struct{ limiter *feedbackLimiter }

func (s feedbackSlot) Release(f prepaid.Feedback) {
	s.limiter.mu.Lock()
	defer s.limiter.mu.Unlock()
	s.limiter.feedback = append(s.limiter.feedback, f)
}

// Each attempt takes one slot and gives it back once, with what the limiter needs to know.
func TestLimiterFeedback(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		op    coreOp
		steps []step
		want  []prepaid.Feedback
	}{
		"success":      {opGet(), []step{wellAnswered(opGet())}, []prepaid.Feedback{{StatusCode: 200}}},
		"cut off":      {opCreate(), []step{broken(errCut)}, []prepaid.Feedback{{}}},
		"a panic":      {opCreate(), []step{func(*http.Request) (*http.Response, error) { panic("x") }}, []prepaid.Feedback{{}}},
		"unreachable":  {opCreate(), []step{unreachable(syscall.ECONNREFUSED), wellAnswered(opCreate())}, []prepaid.Feedback{{NotSent: true}, {StatusCode: 201}}},
		"429":          {opGet(), []step{serviceError(429, "slow", "Retry-After: 7"), wellAnswered(opGet())}, []prepaid.Feedback{{StatusCode: 429, RetryAfter: 7 * time.Second}, {StatusCode: 200}}},
		"401":          {opGet(), []step{serviceError(401, "x"), wellAnswered(opGet())}, []prepaid.Feedback{{StatusCode: 401}, {StatusCode: 200}}},
		"a timeout":    {opRedeem(), []step{after(time.Hour, wellAnswered(opRedeem()))}, []prepaid.Feedback{{}}},
		"a bad answer": {opRedeem(), []step{answered(200, vendorJSON, "{")}, []prepaid.Feedback{{StatusCode: 200}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				limiter := &feedbackLimiter{}
				config := clockConfig(scripted(tc.steps...))
				config.Limiter = limiter
				_ = tc.op.call(t.Context(), newCoreClient(t, config))
				require.Equal(t, tc.want, limiter.feedback)
				require.Equal(t, len(tc.want), limiter.acquired)
			})
		})
	}
}

// Money goes before other calls, and polls stand behind them; the token's own lane is not shown to a caller's limiter.
func TestLanes(t *testing.T) {
	t.Parallel()
	lanes := map[string]prepaid.Lane{"Accounts.Transfer": prepaid.LaneMoney, "Funding.Redeem": prepaid.LaneMoney}
	for _, op := range coreOps() {
		synctest.Test(t, func(t *testing.T) {
			limiter := &feedbackLimiter{}
			config := credentialed(split{scripted(grant(1, "600")), scripted(wellAnswered(op))})
			config.Limiter = limiter
			require.NoError(t, op.call(t.Context(), newCoreClient(t, config)))
			want, ok := lanes[op.name]
			if !ok {
				want = prepaid.LaneCall
			}
			require.Equal(t, []prepaid.Lane{prepaid.LaneMoney, want}, limiter.lanes, op.name)
		})
	}
	limiter := &feedbackLimiter{}
	config := coreConfig("https://cards.example")
	config.Limiter, config.Transport = limiter, scripted(notReady())
	_, err := newCoreClient(t, config).Reporting.Result(t.Context(), aRun)
	require.ErrorIs(t, err, prepaid.ErrReportNotReady)
	require.Equal(t, []prepaid.Lane{prepaid.LaneBulk}, limiter.lanes)
}

// A throttled call of any class goes again, and one that stays throttled was not processed.
func TestEveryClassWaitsOutThrottling(t *testing.T) {
	t.Parallel()
	for _, op := range coreOps() {
		for name, headers := range map[string][]string{"told": {"Retry-After: 12"}, "untold": nil} {
			t.Run(op.name+"/"+name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					slow := serviceError(429, "slow", headers...)
					for count := range 3 {
						steps := slices.Repeat([]step{slow}, count)
						steps = append(steps, wellAnswered(op))
						service := scripted(steps...)
						require.NoError(t, op.call(t.Context(), newCoreClient(t, clockConfig(service))))
						require.Len(t, service.requests(), count+1)
					}
					err := op.call(t.Context(), newCoreClient(t, clockConfig(scripted(slow))))
					require.ErrorIs(t, err, prepaid.ErrRateLimited)
					require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
				})
			})
		}
	}
}

// Only the change to active is kept from a late repeat, which could lift a block set meanwhile.
func TestSetStatusClass(t *testing.T) {
	t.Parallel()
	for status, calls := range map[prepaid.AccountStatus]int{
		prepaid.AccountStatusActive: 1, prepaid.AccountStatusLostOrStolen: 2, prepaid.AccountStatusClosed: 2,
	} {
		for _, fault := range []step{broken(errCut), answered(503, "", "")} {
			service := scripted(fault, answered(200, "", ""))
			config := coreConfig("https://cards.example")
			config.Transport = service
			err := newCoreClient(t, config).Accounts.SetStatus(t.Context(), "acc-1", status)
			require.Len(t, service.requests(), calls, status)
			require.Equal(t, calls == 1, err != nil)
			require.Equal(t, calls == 1, prepaid.OutcomeOf(err) == prepaid.OutcomeUnknown)
		}
	}
}
