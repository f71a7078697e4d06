package faults

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/oauth2"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

func withSource(service http.RoundTripper, source func() (*oauth2.Token, error)) prepaid.Config {
	config := harness.ClockConfig(service)
	config.Token = harness.TokenFunc(func(context.Context, *oauth2.Token) (*oauth2.Token, error) { return source() })
	return config
}

// After a 401 a foreign source is asked once more. The same token again ends the call with that 401.
func TestForeignSourceIsAskedOnceMore(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		fresh bool
		sent  int
		ok    bool
	}{
		"another token":  {fresh: true, sent: 2, ok: true},
		"the same again": {fresh: false, sent: 1},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				asked := 0
				service := harness.NewScript(harness.ServiceError(401, "invalid_token"), harness.Succeed(harness.OpCreate()))
				var done []prepaid.Attempt
				config := withSource(service, func() (*oauth2.Token, error) {
					asked++
					if tc.fresh {
						return &oauth2.Token{AccessToken: fmt.Sprint("theirs-", asked)}, nil
					}
					return &oauth2.Token{AccessToken: "theirs"}, nil
				})
				config.Trace = &prepaid.Trace{AttemptDone: func(_ context.Context, _ prepaid.Operation, a prepaid.Attempt) {
					done = append(done, a)
				}}
				err := harness.OpCreate().Call(t.Context(), harness.NewClient(t, config))
				require.Equal(t, 2, asked)
				require.Len(t, service.Requests(), tc.sent)
				require.Len(t, done, tc.sent, "each request is reported once")
				if tc.ok {
					require.NoError(t, err)
					return
				}
				failure := harness.CallError(t, err)
				require.ErrorIs(t, err, prepaid.ErrUnauthorized)
				require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
				require.Equal(t, 1, failure.Attempts)
				cause := harness.As[*prepaid.APIError](t, err)
				require.EqualValues(t, "invalid_token", cause.Code)
			})
		})
	}
}

// A source that fails is a TokenError, without the parts of x/oauth2's own errors that hold credentials.
func TestSourceErrors(t *testing.T) {
	t.Parallel()
	errVault := errors.New("the vault is sealed")
	for name, tc := range map[string]struct {
		source       func() (*oauth2.Token, error)
		is           error
		unauthorized bool
	}{
		"error":     {func() (*oauth2.Token, error) { return nil, errVault }, errVault, false},
		"no token":  {func() (*oauth2.Token, error) { return nil, nil }, nil, false},
		"no access": {func() (*oauth2.Token, error) { return &oauth2.Token{RefreshToken: "CANARY"}, nil }, nil, false},
		"x/oauth2": {func() (*oauth2.Token, error) {
			return nil, &oauth2.RetrieveError{
				Response: &http.Response{StatusCode: 401}, Body: []byte("CANARY"), ErrorCode: "invalid_client", ErrorDescription: "CANARY",
			}
		}, prepaid.CodeInvalidClient, true},
		"x/oauth2 without a response": {func() (*oauth2.Token, error) {
			return nil, &oauth2.RetrieveError{ErrorCode: "invalid_client"}
		}, prepaid.CodeInvalidClient, true},
		"a call of another client": {func() (*oauth2.Token, error) {
			return nil, &prepaid.CallError{Operation: "Token", Err: errVault}
		}, errVault, false},
		"a token error": {func() (*oauth2.Token, error) { return nil, &prepaid.TokenError{Err: errVault} }, errVault, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
			client := harness.NewClient(t, withSource(service, tc.source))
			_, tokenErr := client.Token(t.Context())
			for _, err := range []error{harness.OpTransfer().Call(t.Context(), client), tokenErr} {
				require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
				require.ErrorAs(t, err, new(*prepaid.TokenError))
				if tc.is != nil {
					require.ErrorIs(t, err, tc.is)
				}
				require.Equal(t, tc.unauthorized, errors.Is(err, prepaid.ErrUnauthorized))
				require.NotContains(t, fmt.Sprintf("%v %+v", err, harness.CallError(t, err).Err), "CANARY")
				require.LessOrEqual(t, strings.Count(err.Error(), "no access token"), 1, err.Error())
			}
			require.Empty(t, service.Requests())
		})
	}
}

// A request whose token no header can carry is not sent.
func TestUnfitToken(t *testing.T) {
	t.Parallel()
	service := harness.NewScript(harness.Succeed(harness.OpTransfer()))
	config := withSource(service, func() (*oauth2.Token, error) { return &oauth2.Token{AccessToken: "from-a-file\n"}, nil })
	failure := harness.CallError(t, harness.OpTransfer().Call(t.Context(), harness.NewClient(t, config)))
	require.Equal(t, prepaid.OutcomeNotProcessed, failure.Outcome)
	require.Empty(t, service.Requests())
}

// Waiting for a token takes no slot of the limiter.
func TestTokenBeforeSlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var slots atomic.Int32
		config := withSource(harness.NewScript(harness.Succeed(harness.OpGet())), func() (*oauth2.Token, error) {
			require.Zero(t, slots.Load())
			time.Sleep(time.Minute)
			return &oauth2.Token{AccessToken: "theirs"}, nil
		})
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			slots.Add(1)
			return nil
		})
		require.NoError(t, harness.OpGet().Call(t.Context(), harness.NewClient(t, config)))
		require.EqualValues(t, 1, slots.Load())
	})
}

// refusing responds after 10 ms, with 401 to the given tokens. late counts the requests that carry a token which was refused before.
func refusing(tokens ...string) (calls *harness.Script, late func() int) {
	var mu sync.Mutex
	refused, count := map[string]time.Time{}, 0
	calls = harness.NewScript(func(r *http.Request) (*http.Response, error) {
		sent, bearer := time.Now(), r.Header.Get("Authorization")
		time.Sleep(10 * time.Millisecond)
		mu.Lock()
		defer mu.Unlock()
		if at, ok := refused[bearer]; ok && sent.After(at) {
			count++
		}
		for _, token := range tokens {
			if bearer == "Bearer "+token {
				if refused[bearer].IsZero() {
					refused[bearer] = time.Now()
				}
				return harness.ServiceError(401, "invalid_token")(r)
			}
		}
		return harness.Succeed(harness.OpGet())(r)
	})
	return calls, func() int { mu.Lock(); defer mu.Unlock(); return count }
}

// Three tokens are revoked within a second. No request carries a token that the service has refused: calls wait for the next
// one within their deadline, or fail without being sent.
func TestRefusedTokenIsNotSentAgain(t *testing.T) {
	t.Parallel()
	for _, deadline := range []time.Duration{50 * time.Millisecond, 500 * time.Millisecond, 3 * time.Second} {
		t.Run(deadline.String(), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				calls, late := refusing("issued-1", "issued-2", "issued-3")
				service := harness.Split{Tokens: issuing(), Calls: calls}
				client := harness.NewClient(t, harness.CredentialsConfig(service))
				began := time.Now()
				var callers sync.WaitGroup
				for range 20 {
					callers.Go(func() {
						for time.Since(began) < 3*time.Second {
							ctx, cancel := context.WithTimeout(t.Context(), deadline)
							err := harness.OpGet().Call(ctx, client)
							cancel()
							switch {
							case err == nil:
							case prepaid.OutcomeOf(err) != prepaid.OutcomeNotProcessed, time.Since(began) > 2*time.Second:
								t.Error(err)
							}
							time.Sleep(time.Millisecond)
						}
					})
				}
				callers.Wait()
				require.Zero(t, late())
				require.Len(t, service.Tokens.Requests(), 4)
			})
		})
	}
}

// Calls that wait for a slot while their token is refused are sent with the next one.
func TestTokenRefusedWhileWaitingForASlot(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		calls, late := refusing("issued-1")
		config := harness.CredentialsConfig(harness.Split{Tokens: issuing(), Calls: calls})
		var slots atomic.Int32
		config.Limiter = harness.LimiterFunc(func(context.Context) error {
			if slots.Add(1) > 2 { // for the first token and for one call, which meets the refusal
				time.Sleep(time.Second)
			}
			return nil
		})
		client := harness.NewClient(t, config)
		_, err := client.Token(t.Context())
		require.NoError(t, err)
		var callers sync.WaitGroup
		for range 20 {
			callers.Go(func() { require.NoError(t, harness.OpGet().Call(t.Context(), client)) })
		}
		callers.Wait()
		require.Zero(t, late())
		require.Equal(t, 21, len(calls.Requests()))
	})
}

// A hook whose scope is not permitted gets 401 (section 5.6), whatever the token: other calls go on with the shared one.
func TestRefusedScopeStopsNoOtherCall(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{Tokens: issuing(), Calls: harness.NewScript(func(r *http.Request) (*http.Response, error) {
			time.Sleep(10 * time.Millisecond)
			if strings.HasSuffix(r.URL.Path, "/hooks") {
				return harness.ServiceError(401, "unauthorized")(r)
			}
			return harness.Succeed(harness.OpGet())(r)
		})}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		began := time.Now()
		var callers sync.WaitGroup
		repeat := func(call func()) {
			callers.Go(func() {
				for time.Since(began) < 5*time.Second {
					call()
					time.Sleep(40 * time.Millisecond)
				}
			})
		}
		hook := prepaid.CreateHookParams{
			URI: "https://hooks.example/", Scope: []prepaid.CompanyID{7}, FilterSpec: prepaid.FilterAll, ReliabilityMode: prepaid.ReliabilityModeNone,
			HMACKeyID: "k", HMACKeySecret: prepaid.NewSecret(strings.Repeat("0f", 32)),
		}
		repeat(func() {
			_, err := client.Hooks.Create(t.Context(), hook)
			if !errors.Is(err, prepaid.ErrUnauthorized) || prepaid.OutcomeOf(err) != prepaid.OutcomeRejected {
				t.Error(err)
			}
		})
		repeat(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
			defer cancel()
			require.NoError(t, harness.OpGet().Call(ctx, client))
		})
		callers.Wait()
		require.LessOrEqual(t, len(service.Tokens.Requests()), 6, "a token a second")
	})
}
