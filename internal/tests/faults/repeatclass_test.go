package faults

import (
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/contract"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// troubled responds alike to every request and counts them.
type troubled struct {
	status   int  // 0 for a connection that breaks off
	alive    bool // responds to the read before a repeat
	requests int
}

func (r *troubled) RoundTrip(req *http.Request) (*http.Response, error) {
	if r.alive && harness.IsPathRead(req) {
		return harness.Respond(http.StatusOK, harness.VendorJSON, "{}")(req)
	}
	r.requests++
	if r.status == 0 {
		return nil, errors.New("connection reset")
	}
	return &http.Response{
		StatusCode: r.status, Header: http.Header{"Content-Type": {"application/vnd.vendor+json"}},
		Body: io.NopCloser(strings.NewReader(`{"error":"server_error"}`)), Request: req,
	}, nil
}

// TestOperationsRepeatAsTheTableSays sends a request of each class into trouble and counts how often it is sent.
func TestOperationsRepeatAsTheTableSays(t *testing.T) {
	t.Parallel()
	const attempts = 3
	again := map[string]map[int]bool{
		"token":    {0: true, 503: true, 500: true},
		"read":     {0: true, 503: true, 500: true},
		"repeated": {0: true, 503: true, 500: true},
		"keyed":    {0: true, 503: true, 500: false},
		"never":    {0: false, 503: false, 500: false},
	}
	for _, c := range oneOfEachClass(t) {
		require.NotEmpty(t, again[c.safety], c.fixture.Name())
		for status, repeated := range again[c.safety] {
			if c.row.Name == "Reporting.Result" && status == 500 {
				repeated = false
			}
			want, outcome := 1, prepaid.OutcomeUnknown
			if repeated {
				want = attempts
			}
			if c.safety == "read" || c.safety == "token" {
				outcome = prepaid.OutcomeNotProcessed
			}
			synctest.Test(t, func(t *testing.T) {
				trouble := &troubled{status: status, alive: c.safety == "keyed"}
				config := contract.Config(trouble)
				config.Retry = prepaid.RetryPolicy{MaxAttempts: attempts, MinWait: 1, MaxWait: 1}
				err := c.run(t.Context(), t, config)
				require.Error(t, err, c.fixture.Name())
				require.Equal(t, want, trouble.requests, "%s after %d", c.fixture.Name(), status)
				require.Equal(t, outcome, prepaid.OutcomeOf(err), "%s after %d", c.fixture.Name(), status)
			})
		}
	}
}
