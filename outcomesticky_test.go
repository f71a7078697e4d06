package prepaid_test

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
)

var errCut = errors.New("the line was cut")

// An attempt that may have been applied is followed by something else: only a success or, for a keyed movement, a refusal
// that settles makes the outcome known, and both causes can be found.
func TestUnknownIsSticky(t *testing.T) {
	t.Parallel()
	first := map[string]struct {
		step step
		is   error
	}{
		"cut off": {broken(errCut), errCut},
		"503":     {answered(503, "", ""), prepaid.ErrServer},
	}
	second := map[string]struct {
		step  step
		is    error // nil: the call ends well
		calls int
	}{
		"success":         {step: nil, calls: 2},
		"429":             {serviceError(429, "rate_limited", "Retry-After: 9"), prepaid.ErrRateLimited, 7},
		"401":             {serviceError(401, "invalid_token"), prepaid.ErrUnauthorized, 3},
		"400":             {serviceError(400, "invalid_request"), prepaid.CodeInvalidRequest, 2},
		"403":             {serviceError(403, "forbidden"), prepaid.ErrForbidden, 2},
		"404":             {serviceError(404, "not_found"), prepaid.ErrNotFound, 2},
		"409":             {serviceError(409, "duplicate"), prepaid.ErrConflict, 2},
		"unreachable":     {unreachable(syscall.ECONNREFUSED), syscall.ECONNREFUSED, 4},
		"302":             {answered(302, "", ""), nil, 2},
		"failed transfer": {answered(200, vendorJSON, `{"transaction_id":"","correlation_id":"corr-9"}`), prepaid.ErrTransferFailed, 2},
	}
	for firstName, one := range first {
		for secondName, two := range second {
			for _, op := range []coreOp{opTransfer(), opPlastic()} {
				if secondName == "failed transfer" && op.name != "Accounts.Transfer" {
					continue
				}
				t.Run(firstName+" then "+secondName+"/"+op.name, func(t *testing.T) {
					t.Parallel()
					synctest.Test(t, func(t *testing.T) {
						next := two.step
						if next == nil {
							next = wellAnswered(op)
						}
						service := scripted(one.step, next)
						err := op.call(t.Context(), newCoreClient(t, clockConfig(service)))
						if two.step == nil {
							require.NoError(t, err)
							require.Len(t, service.requests(), two.calls)
							return
						}
						failure := callError(t, err)
						if op.requestID != "" && (secondName == "400" || secondName == "failed transfer") {
							require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
							require.ErrorIs(t, err, two.is)
							require.True(t, prepaid.SettlesDoubt(err, failure.FirstSent))
							require.Zero(t, failure.NotBefore)
							return
						}
						require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
						require.ErrorIs(t, err, prepaid.ErrOutcomeUnknown)
						require.ErrorIs(t, err, one.is, "the first cause")
						if two.is != nil {
							require.ErrorIs(t, err, two.is, "the last cause")
						}
						require.Contains(t, err.Error(), "an earlier attempt may have been applied")
						if secondName == "429" {
							require.Greater(t, len(service.requests()), 3)
						} else {
							require.Len(t, service.requests(), two.calls)
						}
					})
				})
			}
		}
	}
}

// What ends a call between two attempts, or before the second one leaves, does not hide the first.
func TestUnknownOutlivesWhatEndsTheCall(t *testing.T) {
	t.Parallel()
	errNoToken := errors.New("no token today")
	for name, tc := range map[string]struct {
		is     error
		calls  int
		adjust func(config *prepaid.Config)
		ctx    func(t *testing.T) context.Context
		next   step
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
			is: context.Canceled, calls: 2, next: after(time.Hour, wellAnswered(opTransfer())),
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
				config.TokenSource = tokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) {
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
				config.Limiter = prepaid.LimiterFunc(func(context.Context) error {
					if admitted {
						return errors.New("full")
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
					next = wellAnswered(opTransfer())
				}
				service := scripted(broken(errCut), next)
				config := clockConfig(service)
				if tc.adjust != nil {
					tc.adjust(&config)
				}
				ctx := t.Context()
				if tc.ctx != nil {
					ctx = tc.ctx(t)
				}
				err := opTransfer().call(ctx, newCoreClient(t, config))
				failure := callError(t, err)
				require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
				require.ErrorIs(t, err, errCut)
				require.ErrorIs(t, err, tc.is)
				require.Len(t, service.requests(), tc.calls)
				require.Equal(t, tc.calls, failure.Attempts)
			})
		})
	}
}

// A throttled or stale first attempt leaves no doubt, so that an operation that is never repeated goes again; an
// attempt after that which breaks is the end.
func TestNeverRepeatedGoesAgainOnlyAfterProofOfNothingDone(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]step{
		"429":         serviceError(429, "rate_limited"),
		"401":         serviceError(401, "invalid_token"),
		"unreachable": unreachable(syscall.ECONNREFUSED),
	} {
		for _, op := range []coreOp{opCreate(), opRedeem(), opStart(), opActivate()} {
			t.Run(name+"/"+op.name, func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) {
					service := scripted(first, wellAnswered(op))
					require.NoError(t, op.call(t.Context(), newCoreClient(t, clockConfig(service))))
					require.Len(t, service.requests(), 2)

					service = scripted(first, broken(errCut), wellAnswered(op))
					failure := callError(t, op.call(t.Context(), newCoreClient(t, clockConfig(service))))
					require.Equal(t, prepaid.OutcomeUnknown, failure.Outcome)
					require.Len(t, service.requests(), 2)
				})
			})
		}
	}
}

// A 401 is answered with one renewal a call, wherever it comes.
func TestOneRenewalACall(t *testing.T) {
	t.Parallel()
	stale := serviceError(401, "invalid_token")
	service := scripted(stale, answered(503, "", ""), stale)
	config := coreConfig("https://cards.example")
	config.Transport = service
	failure := callError(t, opGet().call(t.Context(), newCoreClient(t, config)))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
	var bearers []string
	for _, request := range service.requests() {
		bearers = append(bearers, request.header.Get("Authorization"))
	}
	require.Equal(t, []string{"Bearer token-1", "Bearer token-2", "Bearer token-2"}, bearers)
}

// On webhooks a 401 also stands for a company that the caller may not see: the code says so, and it is final.
func TestUnauthorizedCodeIsRejected(t *testing.T) {
	t.Parallel()
	service := scripted(serviceError(401, "unauthorized"))
	config := coreConfig("https://cards.example")
	config.Transport = service
	client := newCoreClient(t, config)
	failure := callError(t, client.Hooks.Delete(t.Context(), "hook-1"))
	require.Equal(t, prepaid.OutcomeRejected, failure.Outcome)
	require.ErrorIs(t, failure, prepaid.CodeUnauthorized)
	require.Len(t, service.requests(), 2, "one renewal: the token may have been bad")

	failure = callError(t, opTransfer().call(t.Context(), client))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome, "a payment is not struck off for a credential")

	config.Transport = scripted(answered(401, "text/plain", `{"error":"unauthorized"}`))
	failure = callError(t, newCoreClient(t, config).Hooks.Delete(t.Context(), "hook-1"))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome, "not the service's form")
}

// A keyed movement is sent again with the same bytes, after the pause that gives the first the time to finish, and
// never beside it.
func TestKeyedReplay(t *testing.T) {
	t.Parallel()
	for name, first := range map[string]step{
		"cut off":                broken(errCut),
		"502":                    answered(502, "", ""),
		"503 that asks for less": answered(503, "", "", "Retry-After: 1"),
		"504":                    answered(504, "", ""),
		"slow":                   after(time.Hour, wellAnswered(opTransfer())),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := scripted(first, first, unreachable(syscall.ECONNREFUSED), wellAnswered(opTransfer()))
				config := clockConfig(service)
				config.AttemptTimeout = 5 * time.Second
				require.NoError(t, opTransfer().call(t.Context(), newCoreClient(t, config)))
				requests := service.requests()
				require.Len(t, requests, 4)
				require.Contains(t, requests[0].body, `"request_id":"pay-1"`)
				for i, request := range requests {
					require.Equal(t, requests[0].body, request.body)
					require.Equal(t, http.MethodPost, request.method)
					if i == 1 || i == 2 { // the third was not sent, and none is under way
						require.Equal(t, 15*time.Second, request.at.Sub(requests[i-1].at))
					}
				}
				require.Equal(t, 1, service.most, "side by side")
			})
		})
	}
}

// AttemptTimeout and InFlightWait are the caller's to set, and longer pauses win.
func TestInFlightWait(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := scripted(answered(503, "", "", "Retry-After: 14"), after(time.Second, broken(errCut)), broken(errCut), wellAnswered(opTransfer()))
		config := clockConfig(service)
		config.AttemptTimeout, config.Retry.InFlightWait = 2*time.Second, 7*time.Second
		require.NoError(t, opTransfer().call(t.Context(), newCoreClient(t, config)))
		require.Equal(t, []time.Duration{14 * time.Second, 9 * time.Second, 9 * time.Second}, service.gaps())
	})
}

// The text of an error of two causes is one line with both.
func TestBothCausesText(t *testing.T) {
	t.Parallel()
	config := coreConfig("https://cards.example")
	config.Transport, config.AttemptTimeout = scripted(broken(errCut), serviceError(400, "duplicate_request")), 100*time.Millisecond
	err := opTransfer().call(t.Context(), newCoreClient(t, config))
	require.EqualError(t, err, "prepaid: Accounts.Transfer: outcome unknown after 2 attempts: status 400 (duplicate_request); "+
		"an earlier attempt may have been applied: no answer (answer): the line was cut")
	require.Equal(t, 1, strings.Count(err.Error(), "prepaid:"))
}
