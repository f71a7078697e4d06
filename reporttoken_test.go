package prepaid_test

import (
	"context"
	"errors"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// issuing responds with tokens issued-1, issued-2 and so on.
func issuing() *script {
	number := 0
	var mu sync.Mutex
	return scripted(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		number++
		return grant(number, "3600")(r)
	})
}

// unlessBearer responds with refusal to every token but the one given.
func unlessBearer(token string, well, refusal step) step {
	return func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			return well(r)
		}
		return refusal(r)
	}
}

// bearers are the tokens that calls were sent with.
func bearers(s *script) []string {
	var list []string
	for _, request := range s.requests() {
		list = append(list, request.header.Get("Authorization"))
	}
	return list
}

// A 400 of a report start that means the token: another one is fetched for this call, and shared once it has succeeded.
func TestReportStartWithABadToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := split{issuing(), scripted(unlessBearer("issued-2", wellAnswered(opStart()), serviceError(400, "invalid_request")))}
		client := newCoreClient(t, credentialed(service))
		require.NoError(t, opStart().call(t.Context(), client))
		require.NoError(t, opStart().call(t.Context(), client))
		require.Equal(t, []string{"Bearer issued-1", "Bearer issued-2", "Bearer issued-2"}, bearers(service.calls))
		require.Len(t, service.tokens.requests(), 2)
	})
}

// A 400 that means the template is returned; the shared token stays, and however many such calls there are, they cost one
// token a second.
func TestReportStartOfAWrongTemplate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := split{issuing(), scripted(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && r.URL.Path == "/3.0/reporting/templates/daily" {
				return serviceError(400, "invalid_request")(r)
			}
			return unlessBearer("issued-1", wellAnswered(opGet()), serviceError(401, "invalid_token"))(r)
		})}
		client := newCoreClient(t, credentialed(service))
		err := opStart().call(t.Context(), client)
		require.ErrorIs(t, err, prepaid.ErrBadRequest)
		require.Equal(t, prepaid.OutcomeRejected, callError(t, err).Outcome)
		require.Equal(t, 2, callError(t, err).Attempts)
		require.Len(t, service.tokens.requests(), 2)
		require.NoError(t, opGet().call(t.Context(), client), "the shared token is still the first")

		began := time.Now()
		var calls sync.WaitGroup
		for range 50 {
			calls.Go(func() {
				for time.Since(began) < 10*time.Second {
					if err := opStart().call(t.Context(), client); !errors.Is(err, prepaid.ErrBadRequest) {
						t.Error(err)
					}
					time.Sleep(50 * time.Millisecond)
				}
			})
		}
		calls.Wait()
		require.LessOrEqual(t, len(service.tokens.requests()), 13)
		require.NoError(t, opGet().call(t.Context(), client))
	})
}

// What does not let the start be tried again leaves the 400 as it is.
func TestReportStartKeepsTheFirst400(t *testing.T) {
	t.Parallel()
	refusal := serviceError(400, "invalid_request")
	for name, tc := range map[string]struct {
		tokens  *script
		calls   *script
		starts  int
		sent    int
		outcome prepaid.Outcome
	}{
		"no other token":    {scripted(grant(1, "3600"), serviceError(401, "invalid_client")), scripted(refusal), 3, 3, prepaid.OutcomeRejected},
		"the same token":    {scripted(grant(1, "3600")), scripted(refusal), 3, 3, prepaid.OutcomeRejected},
		"a proxy's page":    {issuing(), scripted(answered(400, "text/html", htmlPage)), 3, 3, prepaid.OutcomeUnknown},
		"no error code":     {issuing(), scripted(answered(400, vendorJSON, "{}")), 3, 3, prepaid.OutcomeUnknown},
		"renewed before it": {issuing(), scripted(serviceError(401, "invalid_token"), refusal), 1, 2, prepaid.OutcomeRejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := newCoreClient(t, credentialed(split{tc.tokens, tc.calls}))
				for range tc.starts {
					err := opStart().call(t.Context(), client)
					require.ErrorIs(t, err, prepaid.ErrBadRequest)
					require.Equal(t, tc.outcome, callError(t, err).Outcome)
					require.NotErrorIs(t, err, prepaid.ErrUnauthorized)
				}
				require.Len(t, tc.calls.requests(), tc.sent)
			})
		})
	}
	service := scripted(refusal)
	config := coreConfig("https://cards.example")
	config.Transport = service
	require.ErrorIs(t, opStart().call(t.Context(), newCoreClient(t, config)), prepaid.ErrBadRequest)
	require.Len(t, service.requests(), 1, "a source of the caller's own is not asked again")
}

// The wait for another token ends with the call's context; nothing was started.
func TestReportStartCancelledBeforeAnotherToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := split{scripted(grant(1, "3600"), after(20*time.Second, grant(2, "3600"))), scripted(serviceError(400, "invalid_request"))}
		ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
		defer cancel()
		err := opStart().call(ctx, newCoreClient(t, credentialed(service)))
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.ErrorIs(t, err, prepaid.ErrBadRequest, "and says what was met before")
		require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
		require.Len(t, service.calls.requests(), 1)
	})
}

// Close ends the wait for another token too.
func TestReportStartClosedBeforeAnotherToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := split{scripted(grant(1, "3600"), after(20*time.Second, grant(2, "3600"))), scripted(serviceError(400, "invalid_request"))}
		client := newCoreClient(t, credentialed(service))
		time.AfterFunc(time.Second, func() { _ = client.Close() })
		err := opStart().call(t.Context(), client)
		require.ErrorIs(t, err, prepaid.ErrClosed)
		require.Equal(t, prepaid.OutcomeNotProcessed, callError(t, err).Outcome)
		require.Len(t, service.calls.requests(), 1)
	})
}
