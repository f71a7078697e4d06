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

// lateCard is a service that shows a created account after a delay, and refuses transfers. lost is its response to the first
// creations, which create nothing; with broken, searches fail after a creation.
type lateCard struct {
	delay     time.Duration
	lost      []harness.Step
	broken    bool
	created   []time.Time
	transfers int
}

func (s *lateCard) RoundTrip(r *http.Request) (*http.Response, error) {
	const row = `{"account_id":"acc-1","external_account_id":"ext-1","company_id":42,"balance":0,"status":"active","client_account_key":"emp-7"}`
	switch {
	case strings.HasSuffix(r.URL.Path, "/transfer"):
		s.transfers++
		return harness.Respond(403, "", "")(r)
	case r.Method == http.MethodPost && len(s.lost) > 0:
		step := s.lost[0]
		s.lost = s.lost[1:]
		return step(r)
	case s.broken && len(s.created) > 0 && time.Since(s.created[0]) > time.Minute:
		return harness.ServiceError(403, "forbidden")(r)
	case r.Method == http.MethodPost:
		s.created = append(s.created, time.Now())
		return harness.Respond(201, harness.VendorJSON, row)(r)
	case len(s.created) == 0 || time.Since(s.created[0]) < s.delay:
		return harness.Respond(204, "", "")(r)
	}
	return harness.Respond(200, harness.VendorJSON, "["+row+"]", "X-TotalPages: 1")(r)
}

// FindCreated waits for a card that becomes visible after Issue has given up. It is never created a second time.
func TestIssueAndLoadCardSeenLate(t *testing.T) {
	t.Parallel()
	for delay, want := range map[time.Duration]error{
		time.Second: prepaid.ErrForbidden, 5 * time.Minute: prepaid.ErrForbidden, time.Hour: prepaid.ErrNotSeen,
	} {
		bubble(t, fmt.Sprint(delay), func(t *testing.T) {
			service := &lateCard{delay: delay}
			err := issueAndLoad(t.Context(), harness.NewClient(t, harness.ClockConfig(service)), "float", prepaid.DateOf(time.Now()), false)
			require.ErrorIs(t, err, want)
			require.Len(t, service.created, 1)
			require.Equal(t, want == prepaid.ErrForbidden, service.transfers == 1)
		})
	}
}

// After an unknown creation that created nothing, the function issues the card when it is run again: the guide's rule.
func TestIssueAndLoadAfterAnUnknownCreation(t *testing.T) {
	t.Parallel()
	for name, lost := range map[string]harness.Step{
		"500": harness.ServiceError(500, "server_error"), "502": harness.Respond(502, "", ""), "cut off": harness.Broken(harness.ErrCut),
	} {
		synctest.Test(t, func(t *testing.T) {
			service := &lateCard{lost: []harness.Step{lost}}
			client := harness.NewClient(t, harness.ClockConfig(service))
			began := time.Now()
			err := issueAndLoad(t.Context(), client, "float", prepaid.DateOf(began), false)
			require.NotErrorIs(t, err, errCreated, name)
			require.NotErrorIs(t, err, prepaid.ErrNotSeen, name)
			require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err), name)
			require.Less(t, time.Since(began), time.Minute, name)
			require.ErrorIs(t, issueAndLoad(t.Context(), client, "float", prepaid.DateOf(began), true), prepaid.ErrForbidden, name)
			require.Len(t, service.created, 1, name)
			require.Equal(t, 1, service.transfers, name)
		})
	}
}

// A card that was created for certain is not issued again, whatever ends the search for it.
func TestIssueAndLoadCannotSearch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &lateCard{delay: time.Hour, broken: true}
		client := harness.NewClient(t, harness.ClockConfig(service))
		err := issueAndLoad(t.Context(), client, "float", prepaid.DateOf(time.Now()), false)
		require.ErrorIs(t, err, errCreated)
		require.ErrorIs(t, err, prepaid.ErrForbidden)
		require.NotErrorIs(t, err, prepaid.ErrNotSeen)
	})
}

// The error of Issue names the failed step, with the causes of the search and the creation, and without personal data.
func TestIssueErrorsNameTheStep(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		forbidden := harness.ServiceError(403, "forbidden")
		for want, service := range map[string]http.RoundTripper{
			"prepaid: Accounts.Issue: applied: account created; search: nothing seen yet under client_id \"acme\" of company 7":                     &lateCard{delay: time.Hour},
			"prepaid: Accounts.Issue: not_processed: search before the creation: status 403 (forbidden)":                                            harness.NewScript(forbidden),
			"prepaid: Accounts.Create: rejected: status 400 (invalid_request)":                                                                      &lateCard{lost: []harness.Step{harness.ServiceError(400, "invalid_request")}},
			"prepaid: Accounts.Issue: applied: account created; search: status 403 (forbidden); before that: Accounts.Create: applied: undecodable": harness.NewScript(harness.Respond(204, "", ""), harness.Respond(201, harness.VendorJSON, "[]"), forbidden),
			"prepaid: Accounts.Issue: outcome unknown: account may have been created; search: nothing seen yet under client_id \"acme\" of company 7; " +
				"an earlier attempt may have been applied: Accounts.Create: outcome unknown: status 500 (server_error)": &lateCard{lost: []harness.Step{harness.ServiceError(500, "server_error")}},
		} {
			client := harness.NewClient(t, harness.ClockConfig(service))
			_, err := client.Accounts.Issue(t.Context(), prepaid.IssueParams{Account: harness.NewCardParams(), ProgramClientID: "acme"})
			require.ErrorContains(t, err, want)
		}
	})
}
