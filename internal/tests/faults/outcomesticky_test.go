package faults

import (
	"context"
	"errors"
	"net/http"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// An end of the call before the second attempt leaves does not hide the first.
func TestUnknownOutlivesWhatEndsTheCall(t *testing.T) {
	t.Parallel()
	errNoToken := errors.New("no token today")
	secondTime := func(err error) func() error {
		first := true
		return func() error {
			if first {
				first = false
				return nil
			}
			return err
		}
	}
	for name, tc := range map[string]struct {
		is     error
		adjust func(config *prepaid.Config, cancel func())
	}{
		"cancelled while waiting": {context.Canceled, func(_ *prepaid.Config, cancel func()) { time.AfterFunc(time.Second, cancel) }},
		"no token": {errNoToken, func(config *prepaid.Config, _ func()) {
			result := secondTime(errNoToken)
			*config = withSource(config.Transport, func() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "token-1"}, result() })
		}},
		"limiter refuses": {prepaid.ErrRateLimited, func(config *prepaid.Config, _ func()) {
			result := secondTime(&ratelimit.RefusedError{})
			config.Limiter = harness.LimiterFunc(func(context.Context) error { return result() })
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
				config := harness.ClockConfig(service)
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				tc.adjust(&config, cancel)
				err := harness.OpTransfer().Call(ctx, harness.NewClient(t, config))
				failure := harness.CallError(t, err)
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
				require.ErrorIs(t, err, harness.ErrCut)
				require.ErrorIs(t, err, tc.is)
				require.Len(t, service.Requests(), 1)
				require.Equal(t, 1, failure.Attempts)
			})
		})
	}
}

// A throttled or stale first attempt leaves no doubt, so that an operation that is never repeated goes again; an
// attempt after that which breaks is the end.
func TestNeverRepeatedGoesAgainOnlyAfterProofOfNothingDone(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]harness.Step{
		"429":         harness.ServiceError(429, "rate_limited"),
		"401":         harness.ServiceError(401, "invalid_token"),
		"unreachable": harness.Unreachable(syscall.ECONNREFUSED),
	} {
		for _, op := range []harness.Op{harness.OpCreate(), harness.OpRedeem(), harness.OpStart(), harness.OpActivate()} {
			t.Run(name+"/"+op.Name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					service := harness.NewScript(first, harness.Succeed(op))
					require.NoError(t, op.Call(t.Context(), harness.NewClient(t, harness.ClockConfig(service))))
					require.Len(t, service.Requests(), 2)

					service = harness.NewScript(first, harness.Broken(harness.ErrCut), harness.Succeed(op))
					failure := harness.CallError(t, op.Call(t.Context(), harness.NewClient(t, harness.ClockConfig(service))))
					require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
					require.Len(t, service.Requests(), 2)
				})
			})
		}
	}
}

// A 401 causes one renewal per call, in any attempt.
func TestOneRenewalACall(t *testing.T) {
	t.Parallel()
	stale := harness.ServiceError(401, "invalid_token")
	service := harness.NewScript(stale, harness.Respond(503, "", ""), stale)
	failure := harness.CallError(t, harness.OpGet().Call(t.Context(), service.Client(t)))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
	var bearers []string
	for _, request := range service.Requests() {
		bearers = append(bearers, request.Header.Get("Authorization"))
	}
	require.Equal(t, []string{"Bearer token-1", "Bearer token-2", "Bearer token-2"}, bearers)
}

// On webhooks a 401 also stands for a company that the caller may not see: the code says so, and it is final.
func TestUnauthorizedCodeIsRejected(t *testing.T) {
	t.Parallel()
	service := harness.NewScript(harness.ServiceError(401, "unauthorized"))
	config := service.Config()
	client := harness.NewClient(t, config)
	failure := harness.CallError(t, client.Hooks.Delete(t.Context(), "hook-1"))
	require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
	require.ErrorIs(t, failure, prepaid.CodeUnauthorized)
	require.Len(t, service.Requests(), 2, "one renewal: the token may have been bad")

	failure = harness.CallError(t, harness.OpTransfer().Call(t.Context(), client))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome, "a payment is not struck off for a credential")

	config.Transport = harness.NewScript(harness.Respond(401, "text/plain", `{"error":"unauthorized"}`))
	failure = harness.CallError(t, harness.NewClient(t, config).Hooks.Delete(t.Context(), "hook-1"))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome, "not the service's form")
}

// A keyed movement is sent again with the same bytes, after the pause that gives the first the time to finish, and
// never at the same time.
func TestKeyedReplay(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]harness.Step{
		"cut off":                harness.Broken(harness.ErrCut),
		"502":                    harness.Respond(502, "", ""),
		"503 that asks for less": harness.Respond(503, "", "", "Retry-After: 1"),
		"504":                    harness.Respond(504, "", ""),
		"slow":                   harness.After(time.Hour, harness.Succeed(harness.OpTransfer())),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := harness.NewScript(first, first, harness.Unreachable(syscall.ECONNREFUSED), harness.Succeed(harness.OpTransfer()))
				config := harness.ClockConfig(service)
				config.AttemptTimeout = 5 * time.Second
				require.NoError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
				requests := service.Requests()
				require.Len(t, requests, 4)
				require.Contains(t, requests[0].Body, `"request_id":"pay-1"`)
				for i, request := range requests {
					require.Equal(t, requests[0].Body, request.Body)
					require.Equal(t, http.MethodPost, request.Method)
					if i == 1 || i == 2 { // the third was not sent, and none is under way
						require.Equal(t, 15*time.Second, request.At.Sub(requests[i-1].At))
					}
				}
				require.Equal(t, 1, service.Most, "side by side")
			})
		})
	}
}

// AttemptTimeout and InFlightWait are the caller's to set, and longer pauses win.
func TestInFlightWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Respond(503, "", "", "Retry-After: 14"), harness.After(time.Second, harness.Broken(harness.ErrCut)), harness.Broken(harness.ErrCut), harness.Succeed(harness.OpTransfer()))
		config := harness.ClockConfig(service)
		config.AttemptTimeout, config.Retry.InFlightWait = 2*time.Second, 7*time.Second
		require.NoError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
		require.Equal(t, []time.Duration{14 * time.Second, 9 * time.Second, 9 * time.Second}, service.Gaps())
	})
}
