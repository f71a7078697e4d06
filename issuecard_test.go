package prepaid_test

import (
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// lateCard is a service that shows a created account after a delay, and refuses transfers.
type lateCard struct {
	delay     time.Duration
	created   []time.Time
	transfers int
}

func (s *lateCard) RoundTrip(r *http.Request) (*http.Response, error) {
	const row = `{"account_id":"acc-1","external_account_id":"ext-1","company_id":42,"balance":0,"status":"active","client_account_key":"emp-7"}`
	switch {
	case strings.HasSuffix(r.URL.Path, "/transfer"):
		s.transfers++
		return harness.Respond(403, "", "")(r)
	case r.Method == http.MethodPost:
		s.created = append(s.created, time.Now())
		return harness.Respond(201, harness.VendorJSON, row)(r)
	case len(s.created) == 0 || time.Since(s.created[0]) < s.delay:
		return harness.Respond(204, "", "")(r)
	}
	return harness.Respond(200, harness.VendorJSON, "["+row+"]", "X-TotalPages: 1")(r)
}

// A card that takes longer than Issue looks is waited for, and never created a second time.
func TestIssueAndLoadCardSeenLate(t *testing.T) {
	t.Parallel()
	for delay, want := range map[time.Duration]error{
		time.Second: prepaid.ErrForbidden, 5 * time.Minute: prepaid.ErrForbidden, time.Hour: prepaid.ErrNotSeen,
	} {
		t.Run(fmt.Sprint(delay), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				service := &lateCard{delay: delay}
				err := issueAndLoad(t.Context(), harness.NewClient(t, harness.ClockConfig(service)), "float", time.Now(), false)
				require.ErrorIs(t, err, want)
				require.Len(t, service.created, 1)
				require.Equal(t, want == prepaid.ErrForbidden, service.transfers == 1)
			})
		})
	}
}
