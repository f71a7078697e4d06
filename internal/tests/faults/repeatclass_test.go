package faults

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

// troubled answers every request alike and counts them.
type troubled struct {
	status   int // 0 for a connection that breaks off
	requests int
}

func (r *troubled) RoundTrip(req *http.Request) (*http.Response, error) {
	r.requests++
	if r.status == 0 {
		return nil, errors.New("connection reset")
	}
	return &http.Response{
		StatusCode: r.status, Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}},
		Body: io.NopCloser(strings.NewReader(`{"error":"server_error"}`)), Request: req,
	}, nil
}

// TestOperationsRepeatAsTheTableSays sends the request of every successful fixture into trouble and counts how often
// it is sent.
func TestOperationsRepeatAsTheTableSays(t *testing.T) {
	t.Parallel()
	const attempts = 3
	safety := map[string]string{}
	for _, row := range tree.Operations(t) {
		safety[row.Name] = row.Safety
	}
	again := map[string]map[int]bool{
		"token":      {0: true, 503: true, 500: true},
		"read":       {0: true, 503: true, 500: true},
		"replayable": {0: true, 503: true, 500: true},
		"keyed":      {0: true, 503: true, 500: false},
		"never":      {0: false, 503: false, 500: false},
	}
	for _, c := range contract.Cases() {
		if c.Refusal {
			continue
		}
		name, _, _ := strings.Cut(c.Fixture, "/")
		class := safety[name]
		if slices.Contains(neverFixtures(), c.Fixture) {
			class = "never"
		}
		for status, repeated := range again[class] {
			if name == "Reporting.Result" && status == 500 {
				repeated = false
			}
			want := 1
			if repeated {
				want = attempts
			}
			synctest.Test(t, func(t *testing.T) {
				trouble := &troubled{status: status}
				config := contract.Config(trouble)
				config.Retry = prepaid.RetryPolicy{MaxAttempts: attempts, MinWait: 1, MaxWait: 1}
				if name == "Token" {
					config.TokenSource = nil
				}
				client, err := prepaid.NewClient(config)
				require.NoError(t, err)
				err = c.Call(t.Context(), client)
				require.Error(t, err, c.Fixture)
				require.Equal(t, want, trouble.requests, "%s after %d", c.Fixture, status)
				wantOutcome := prepaid.OutcomeUnknown
				if class == "read" || class == "token" {
					wantOutcome = prepaid.OutcomeNotProcessed
				}
				require.Equal(t, wantOutcome, prepaid.OutcomeOf(err), "%s after %d", c.Fixture, status)
				require.NoError(t, client.Close())
			})
		}
		require.NotEmpty(t, again[class], c.Fixture)
	}
}
