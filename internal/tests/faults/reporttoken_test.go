package faults

import (
	"net/http"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// issuing responds with tokens issued-1, issued-2 and so on.
func issuing() *harness.Script {
	number := 0
	var mu sync.Mutex
	return harness.NewScript(func(r *http.Request) (*http.Response, error) {
		mu.Lock()
		defer mu.Unlock()
		number++
		return harness.Grant(number, "3600")(r)
	})
}

// unlessBearer responds with refusal to every token but the one given.
func unlessBearer(token string, well, refusal harness.Step) harness.Step {
	return func(r *http.Request) (*http.Response, error) {
		if r.Header.Get("Authorization") == "Bearer "+token {
			return well(r)
		}
		return refusal(r)
	}
}

// bearers are the tokens that calls were sent with.
func bearers(s *harness.Script) []string {
	var list []string
	for _, request := range s.Requests() {
		list = append(list, request.Header.Get("Authorization"))
	}
	return list
}

// A 400 of a report start that means the token: another one is fetched for this call, and shared once it has succeeded.
func TestReportStartWithABadToken(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{Tokens: issuing(), Calls: harness.NewScript(unlessBearer("issued-2", harness.Succeed(harness.OpStart()), harness.ServiceError(400, "invalid_request")))}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		require.NoError(t, harness.OpStart().Call(t.Context(), client))
		require.NoError(t, harness.OpStart().Call(t.Context(), client))
		require.Equal(t, []string{"Bearer issued-1", "Bearer issued-2", "Bearer issued-2"}, bearers(service.Calls))
		require.Len(t, service.Tokens.Requests(), 2)
	})
}

// A 400 that means the template is returned, and the shared token stays. Package token shows that many such calls cost one token a second.
func TestReportStartOfAWrongTemplate(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := harness.Split{Tokens: issuing(), Calls: harness.NewScript(func(r *http.Request) (*http.Response, error) {
			if r.Method == http.MethodGet && r.URL.Path == "/3.0/reporting/templates/daily" {
				return harness.ServiceError(400, "invalid_request")(r)
			}
			return unlessBearer("issued-1", harness.Succeed(harness.OpGet()), harness.ServiceError(401, "invalid_token"))(r)
		})}
		client := harness.NewClient(t, harness.CredentialsConfig(service))
		err := harness.OpStart().Call(t.Context(), client)
		require.ErrorIs(t, err, prepaid.ErrBadRequest)
		require.Equal(t, prepaid.OutcomeRejected, harness.CallError(t, err).Outcome)
		require.Equal(t, 2, harness.CallError(t, err).Attempts)
		require.Len(t, service.Tokens.Requests(), 2)
		require.NoError(t, harness.OpGet().Call(t.Context(), client), "the shared token is still the first")
	})
}

// An error that does not let the start be tried again leaves the 400 as it is.
func TestReportStartKeepsTheFirst400(t *testing.T) {
	t.Parallel()
	refusal := harness.ServiceError(400, "invalid_request")
	for name, tc := range map[string]struct {
		tokens  *harness.Script
		calls   *harness.Script
		starts  int
		sent    int
		outcome prepaid.Outcome
	}{
		"no other token":    {harness.NewScript(harness.Grant(1, "3600"), harness.ServiceError(401, "invalid_client")), harness.NewScript(refusal), 3, 3, prepaid.OutcomeRejected},
		"the same token":    {harness.NewScript(harness.Grant(1, "3600")), harness.NewScript(refusal), 3, 3, prepaid.OutcomeRejected},
		"a proxy's page":    {issuing(), harness.NewScript(harness.Respond(400, "text/html", harness.HTMLPage)), 3, 3, prepaid.OutcomeUnknown},
		"no error code":     {issuing(), harness.NewScript(harness.Respond(400, harness.VendorJSON, "{}")), 3, 3, prepaid.OutcomeUnknown},
		"renewed before it": {issuing(), harness.NewScript(harness.ServiceError(401, "invalid_token"), refusal), 1, 2, prepaid.OutcomeRejected},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				client := harness.NewClient(t, harness.CredentialsConfig(harness.Split{Tokens: tc.tokens, Calls: tc.calls}))
				for range tc.starts {
					err := harness.OpStart().Call(t.Context(), client)
					require.ErrorIs(t, err, prepaid.ErrBadRequest)
					require.Equal(t, tc.outcome, harness.CallError(t, err).Outcome)
					require.NotErrorIs(t, err, prepaid.ErrUnauthorized)
				}
				require.Len(t, tc.calls.Requests(), tc.sent)
			})
		})
	}
	service := harness.NewScript(refusal)
	require.ErrorIs(t, harness.OpStart().Call(t.Context(), service.Client(t)), prepaid.ErrBadRequest)
	require.Len(t, service.Requests(), 1, "a source of the caller's own is not asked again")
}
