package faults

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

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

// The service issues the same text again: an exchange that began after the refusal counts as new, for one further attempt.
func TestSameTokenIsTriedOnceMore(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{
			Tokens: harness.NewScript(harness.Grant(1, "3600")),
			Calls:  harness.NewScript(harness.ServiceError(401, "invalid_token"), harness.Succeed(harness.OpGet())),
		}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		require.NoError(t, harness.OpGet().Call(t.Context(), client))
		require.Len(t, service.Tokens.Requests(), 2)
		require.Len(t, service.Calls.Requests(), 2)
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
		repeat(func() {
			_, err := client.Hooks.Create(t.Context(), harness.ValidHook())
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
