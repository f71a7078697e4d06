package faults

import (
	"context"
	"errors"
	"net/http"
	"strings"
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

// After an attempt that may have been applied, only a success or, for a keyed movement, a refusal with proof makes the
// outcome known. The error has both causes.
func TestUnknownIsSticky(t *testing.T) {
	t.Parallel()
	first := map[string]struct {
		step harness.Step
		is   error
	}{
		"cut off": {harness.Broken(harness.ErrCut), harness.ErrCut},
		"503":     {harness.Respond(503, "", ""), prepaid.ErrServer},
	}
	second := map[string]struct {
		step  harness.Step
		is    error // nil: the call ends well
		calls int
	}{
		"success":         {step: nil, calls: 2},
		"429":             {harness.ServiceError(429, "rate_limited", "Retry-After: 9"), prepaid.ErrRateLimited, 7},
		"401":             {harness.ServiceError(401, "invalid_token"), prepaid.ErrUnauthorized, 3},
		"400":             {harness.ServiceError(400, "invalid_request"), prepaid.CodeInvalidRequest, 2},
		"403":             {harness.ServiceError(403, "forbidden"), prepaid.ErrForbidden, 2},
		"404":             {harness.ServiceError(404, "not_found"), prepaid.ErrNotFound, 2},
		"409":             {harness.ServiceError(409, "duplicate"), prepaid.ErrConflict, 2},
		"unreachable":     {harness.Unreachable(syscall.ECONNREFUSED), syscall.ECONNREFUSED, 4},
		"302":             {harness.Respond(302, "", ""), nil, 2},
		"failed transfer": {harness.Respond(200, harness.VendorJSON, `{"transaction_id":"","correlation_id":"corr-9"}`), prepaid.ErrTransferFailed, 2},
	}
	for firstName, one := range first {
		for secondName, two := range second {
			for _, op := range []harness.Op{harness.OpTransfer(), harness.OpPlastic()} {
				if secondName == "failed transfer" && op.Name != "Accounts.Transfer" {
					continue
				}
				t.Run(firstName+" then "+secondName+"/"+op.Name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						next := two.step
						if next == nil {
							next = harness.Succeed(op)
						}
						service := harness.NewScript(one.step, next)
						err := op.Call(t.Context(), harness.NewClient(t, harness.ClockConfig(service)))
						if two.step == nil {
							require.NoError(t, err)
							require.Len(t, service.Requests(), two.calls)
							return
						}
						failure := harness.CallError(t, err)
						if op.RequestID != "" && (secondName == "400" || secondName == "failed transfer") {
							require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
							require.ErrorIs(t, err, two.is)
							require.True(t, prepaid.ProvesNotApplied(err, failure.FirstSent))
							require.Zero(t, failure.NotBefore)
							return
						}
						require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
						require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
						require.ErrorIs(t, err, one.is, "the first cause")
						if two.is != nil {
							require.ErrorIs(t, err, two.is, "the last cause")
						}
						require.Contains(t, err.Error(), "an earlier attempt may have been applied")
						if secondName == "429" {
							require.Greater(t, len(service.Requests()), 3)
						} else {
							require.Len(t, service.Requests(), two.calls)
						}
					})
				})
			}
		}
	}
}

// An end of the call between two attempts, or before the second one leaves, does not hide the first.
func TestUnknownOutlivesWhatEndsTheCall(t *testing.T) {
	t.Parallel()
	errNoToken := errors.New("no token today")
	for name, tc := range map[string]struct {
		is     error
		calls  int
		adjust func(config *prepaid.Config)
		ctx    func(t *testing.T) context.Context
		next   harness.Step
	}{
		"cancelled while waiting": {
			is: context.Canceled, calls: 1,
			ctx: func(t *testing.T) context.Context {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(time.Second, cancel)
				return ctx
			},
		},
		"cancelled in the second attempt": {
			is: context.Canceled, calls: 2, next: harness.After(time.Hour, harness.Succeed(harness.OpTransfer())),
			ctx: func(t *testing.T) context.Context {
				t.Helper()
				ctx, cancel := context.WithCancel(t.Context())
				time.AfterFunc(42*time.Second, cancel)
				return ctx
			},
		},
		"no token": {
			is: errNoToken, calls: 1,
			adjust: func(config *prepaid.Config) {
				given := false
				config.TokenSource = harness.TokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
					if given {
						return nil, errNoToken
					}
					given = true
					return &oauth2.Token{AccessToken: "token-1"}, nil
				})
			},
		},
		"limiter refuses": {
			is: prepaid.ErrRateLimited, calls: 1,
			adjust: func(config *prepaid.Config) {
				admitted := false
				config.Limiter = harness.LimiterFunc(func(context.Context) error {
					if admitted {
						return &ratelimit.RefusedError{}
					}
					admitted = true
					return nil
				})
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				next := tc.next
				if next == nil {
					next = harness.Succeed(harness.OpTransfer())
				}
				service := harness.NewScript(harness.Broken(harness.ErrCut), next)
				config := harness.ClockConfig(service)
				if tc.adjust != nil {
					tc.adjust(&config)
				}
				ctx := t.Context()
				if tc.ctx != nil {
					ctx = tc.ctx(t)
				}
				err := harness.OpTransfer().Call(ctx, harness.NewClient(t, config))
				failure := harness.CallError(t, err)
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
				require.ErrorIs(t, err, harness.ErrCut)
				require.ErrorIs(t, err, tc.is)
				require.Len(t, service.Requests(), tc.calls)
				require.Equal(t, tc.calls, failure.Attempts)
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

// The text of an error of two causes is one line with both.
func TestBothCausesText(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.NewScript(harness.Broken(harness.ErrCut), harness.ServiceError(400, "duplicate_request"))
		err := harness.OpTransfer().Call(t.Context(), service.Client(t))
		require.EqualError(t, err, "prepaid: Accounts.Transfer: outcome unknown after 2 attempts: status 400 (duplicate_request); "+
			"an earlier attempt may have been applied: no complete response (headers): the line was cut")
		require.Equal(t, 1, strings.Count(err.Error(), "prepaid:"))
	})
}
