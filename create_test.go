package prepaid_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/ratelimit"
)

// register is a service that keeps accounts under a client_account_key and shows a new one after a delay.
type register struct {
	delay    time.Duration // until a new account can be found
	response func(made harness.Step) harness.Step
	search   harness.Step // replaces a search, if set
	noTwice  bool         // fail the test at a second creation
	other    string       // an account that only a search by company returns
	t        *testing.T

	mu       sync.Mutex
	accounts []registered
	created  int
	searches []string
}

type registered struct {
	row  string
	seen time.Time
}

func row(number int, status string) string {
	return fmt.Sprintf(`{"account_id":"acc-%d","external_account_id":"ext-%d","company_id":7,"balance":0,"status":%q,`+
		`"client_account_key":"emp-7"}`, number, number, status)
}

func (s *register) RoundTrip(r *http.Request) (*http.Response, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if r.Method == http.MethodPost {
		s.created++
		if s.noTwice && s.created > 1 {
			s.t.Error("created twice")
		}
		number := len(s.accounts) + 1
		s.accounts = append(s.accounts, registered{row(number, "inactive"), time.Now().Add(s.delay)})
		made := harness.Respond(201, harness.VendorJSON, fmt.Sprintf(`{"external_account_id":"ext-%d","company_id":7,"balance":0,"status":"inactive"}`, number))
		if s.response != nil {
			made = s.response(made)
		}
		return made(r)
	}
	s.searches = append(s.searches, r.URL.RequestURI())
	if s.search != nil {
		return s.search(r)
	}
	var rows []string
	if s.other != "" && strings.HasPrefix(r.URL.Path, "/3.0/accounts/company/") {
		rows = append(rows, s.other)
	}
	for _, account := range s.accounts {
		if !time.Now().Before(account.seen) {
			rows = append(rows, account.row)
		}
	}
	if len(rows) == 0 {
		return harness.Respond(204, "", "")(r)
	}
	return harness.Respond(200, harness.VendorJSON, "["+strings.Join(rows, ",")+"]", "X-TotalPages: 1")(r)
}

func issueParams() prepaid.IssueParams {
	return prepaid.IssueParams{Account: harness.NewCardParams(), ProgramClientID: "acme"}
}

func issue(t *testing.T, service *register, adjust func(*prepaid.IssueParams)) (*prepaid.IssueResult, error) {
	t.Helper()
	params := issueParams()
	if adjust != nil {
		adjust(&params)
	}
	return harness.NewClient(t, harness.ClockConfig(service)).Accounts.Issue(t.Context(), params)
}

// An account is created once and found, even if it becomes visible late or the response to its creation is lost. If the
// call runs again, it finds the existing account.
func TestIssue(t *testing.T) {
	t.Parallel()
	for name, response := range map[string]func(harness.Step) harness.Step{
		"no failure": nil,
		"lost":       func(harness.Step) harness.Step { return harness.Broken(harness.ErrCut) },
		"503":        func(harness.Step) harness.Step { return harness.Respond(503, "", "") },
		"500":        func(harness.Step) harness.Step { return harness.ServiceError(500, "server_error") },
		"garbage":    func(harness.Step) harness.Step { return harness.Respond(201, harness.VendorJSON, "{") },
		"a proxy":    func(harness.Step) harness.Step { return harness.Respond(201, "text/html", harness.HTMLPage) },
	} {
		for _, delay := range []time.Duration{0, 9 * time.Second} {
			bubble(t, fmt.Sprint(name, " ", delay), func(t *testing.T) {
				service := &register{t: t, delay: delay, response: response, noTwice: true}
				began := time.Now()
				issued, err := issue(t, service, nil)
				require.NoError(t, err)
				require.True(t, issued.Created)
				require.EqualValues(t, "acc-1", issued.Account.ID)
				require.GreaterOrEqual(t, time.Since(began), delay)
				require.Less(t, time.Since(began), delay+6*time.Second)
				for _, search := range service.searches {
					if strings.HasPrefix(search, "/3.0/accounts/company/7?") {
						continue
					}
					require.Contains(t, search, "/accounts?client_account_key=emp-7&client_id=acme&page_number=1&page_size=100")
				}

				issued, err = issue(t, service, nil)
				require.NoError(t, err)
				require.False(t, issued.Created, "it was there before")
				require.EqualValues(t, "acc-1", issued.Account.ID)
			})
		}
	}
}

// After a creation that was refused or not sent, Issue returns that error and does not search.
func TestIssueRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		response harness.Step
		outcome  prepaid.Outcome
	}{
		"404":         {harness.ServiceError(404, "not_found"), prepaid.OutcomeRejected},
		"400":         {harness.ServiceError(400, "invalid_request"), prepaid.OutcomeRejected},
		"unreachable": {harness.Unreachable(harness.ErrCut), prepaid.OutcomeNotProcessed},
	} {
		bubble(t, name, func(t *testing.T) {
			service := &register{t: t, delay: time.Hour, response: func(harness.Step) harness.Step { return tc.response }}
			_, err := issue(t, service, nil)
			require.Equal(t, tc.outcome, harness.CallError(t, err).Outcome)
			require.Len(t, service.searches, 1)
		})
	}
}

// If the account never becomes visible, the error has the outcome of its creation, and no second one is created.
func TestIssueNotSeen(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		response func(harness.Step) harness.Step
		outcome  prepaid.Outcome
	}{
		"no failure": {nil, prepaid.OutcomeApplied},
		"lost":       {func(harness.Step) harness.Step { return harness.Broken(harness.ErrCut) }, prepaid.OutcomeUnknown},
	} {
		for within, looked := range map[time.Duration]time.Duration{0: 30 * time.Second, time.Minute: time.Minute} {
			bubble(t, fmt.Sprint(name, " ", within), func(t *testing.T) {
				service := &register{t: t, delay: time.Hour, response: tc.response, noTwice: true}
				began := time.Now()
				_, err := issue(t, service, func(p *prepaid.IssueParams) { p.VisibleWithin = within })
				failure := harness.CallError(t, err)
				require.Equal(t, tc.outcome == prepaid.OutcomeApplied, errors.Is(err, prepaid.ErrNotSeen), "created for certain")
				require.Equal(t, "Accounts.Issue", failure.Operation)
				require.Equal(t, tc.outcome, failure.Outcome)
				require.ErrorContains(t, err, `client_id "acme" of company 7`)
				require.Equal(t, looked, time.Since(began))
				if name == "lost" {
					require.ErrorIs(t, err, harness.ErrCut)
					require.Equal(t, 1, failure.Attempts)
					require.Equal(t, began, failure.FirstSent, "for a later search")
				}
			})
		}
	}
}

// A key is unique only within its program: after a lost response, an account of another program with the same key does
// not end the wait.
func TestIssueLostBesideAnotherProgram(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &register{t: t, delay: 9 * time.Second, noTwice: true, response: func(harness.Step) harness.Step { return harness.Broken(harness.ErrCut) }}
		service.other = strings.Replace(row(9, "active"), `"company_id":7`, `"company_id":7,"client_id":"other"`, 1)
		issued, err := issue(t, service, nil)
		require.NoError(t, err)
		require.EqualValues(t, "acc-1", issued.Account.ID)
	})
}

// Nothing is created if the search before it fails or finds several accounts, or if the parameters are invalid.
func TestIssueCreatesNothing(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		service *register
		adjust  func(*prepaid.IssueParams)
		is      error
		outcome prepaid.Outcome
	}{
		"several": {
			service: &register{accounts: []registered{{row: row(1, "active")}, {row: row(2, "closed")}}},
			is:      prepaid.ErrAmbiguous, outcome: prepaid.OutcomeNotProcessed,
		},
		"search fails": {service: &register{search: harness.ServiceError(403, "forbidden")}, is: prepaid.ErrForbidden, outcome: prepaid.OutcomeNotProcessed},
		"no key": {
			service: &register{},
			adjust:  func(p *prepaid.IssueParams) { p.Account.ClientAccountKey, p.ProgramClientID = "", "" },
			outcome: prepaid.OutcomeRejected,
		},
	} {
		bubble(t, name, func(t *testing.T) {
			service := tc.service
			_, err := issue(t, service, tc.adjust)
			failure := harness.CallError(t, err)
			require.Equal(t, "Accounts.Issue", failure.Operation)
			require.Equal(t, tc.outcome, failure.Outcome)
			require.Zero(t, service.created)
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
				return
			}
			invalid, ok := errors.AsType[*prepaid.ValidationError](err)
			require.True(t, ok)
			require.Equal(t, []prepaid.FieldError{
				{Field: "program_client_id", Rule: "is required"}, {Field: "client_account_key", Rule: "is required"},
			}, invalid.Faults)
			require.Empty(t, service.searches)
		})
	}
}

// A replacement has the key of the lost card: lost, replaced and closed cards do not match.
func TestIssueReplacement(t *testing.T) {
	t.Parallel()
	replace := func(p *prepaid.IssueParams) {
		p.Account.RequestType, p.Account.AccountIDToReplace = prepaid.RequestTypeReplace, "acc-1"
	}
	for _, status := range []string{"lost_or_stolen", "replaced", "closed"} {
		bubble(t, status, func(t *testing.T) {
			service := &register{t: t, accounts: []registered{{row: row(1, status)}}, noTwice: true, response: func(harness.Step) harness.Step { return harness.Broken(harness.ErrCut) }}
			issued, err := issue(t, service, replace)
			require.NoError(t, err)
			require.True(t, issued.Created)
			require.EqualValues(t, "acc-2", issued.Account.ID)
			issued, err = issue(t, service, replace)
			require.NoError(t, err)
			require.False(t, issued.Created)

			issued, err = issue(t, &register{accounts: []registered{{row: row(1, status)}}}, nil)
			require.NoError(t, err, "without a replacement it is the account of that key")
			require.EqualValues(t, "acc-1", issued.Account.ID)
		})
	}
}

// With Again, an account that becomes visible at the end of VisibleWithin, or that only the company's list shows, is no reason
// for a second one. A second one that was created nevertheless is reported.
func TestIssueAgain(t *testing.T) {
	t.Parallel()
	again := func(p *prepaid.IssueParams) { p.Again = true }
	synctest.Test(t, func(t *testing.T) {
		service := &register{t: t, accounts: []registered{{row(1, "active"), time.Now().Add(30 * time.Second)}}}
		issued, err := issue(t, service, again)
		require.NoError(t, err)
		require.False(t, issued.Created)
		require.Zero(t, service.created)

		service.accounts[0].seen = time.Now().Add(time.Hour)
		service.other = strings.Replace(row(1, "active"), `"company_id":7`, `"company_id":7,"client_id":"acme"`, 1)
		began := time.Now()
		issued, err = issue(t, service, again)
		require.NoError(t, err)
		require.Equal(t, "ext-1", issued.Account.ExternalAccountID)
		require.Zero(t, service.created)
		require.Zero(t, time.Since(began))

		service.accounts[0].seen, service.other, service.delay = time.Now().Add(31*time.Second), "", 5*time.Second
		_, err = issue(t, service, again)
		require.ErrorIs(t, err, prepaid.ErrAmbiguous)
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
		require.Equal(t, 1, service.created)
	})
}

// With Again, Issue creates nothing before a whole search that began after VisibleWithin has found nothing, whatever ends the search. The
// first creation, whose outcome is unknown, may still be carried out meanwhile.
func TestIssueAgainNeverCreatesEarly(t *testing.T) {
	t.Parallel()
	refusal := &ratelimit.RefusedError{Wait: time.Minute}
	for name, tc := range map[string]struct {
		within, deadline, cancel, refusal time.Duration // since the start of the call
		visible                           time.Duration // the first account
		is                                error
		took                              time.Duration
	}{
		"deadline before the end":    {within: 10 * time.Minute, deadline: 2 * time.Minute, visible: 3 * time.Minute, is: context.DeadlineExceeded},
		"deadline before the 30 s":   {deadline: 29 * time.Second, visible: time.Hour, is: context.DeadlineExceeded},
		"deadline at the end":        {within: time.Minute, deadline: time.Minute, visible: time.Hour, is: context.DeadlineExceeded},
		"deadline after the end":     {within: time.Minute, deadline: 61 * time.Second, visible: time.Hour, took: time.Minute},
		"visible, but less time":     {within: 10 * time.Minute, deadline: time.Second, visible: 0},
		"cancelled":                  {within: 10 * time.Minute, cancel: 2 * time.Minute, visible: time.Hour, is: context.Canceled, took: 2 * time.Minute},
		"refused in the last search": {within: time.Minute, refusal: time.Minute, visible: time.Hour, is: refusal, took: time.Minute},
	} {
		bubble(t, name, func(t *testing.T) {
			began := time.Now()
			service := &register{t: t, accounts: []registered{{row(1, "active"), began.Add(tc.visible)}}}
			config := harness.ClockConfig(service)
			config.Limiter = harness.LimiterFunc(func(context.Context) error {
				if tc.refusal > 0 && time.Since(began) >= tc.refusal {
					return refusal
				}
				return nil
			})
			ctx, cancel := context.WithTimeout(t.Context(), cmp.Or(tc.deadline, time.Hour))
			defer cancel()
			if tc.cancel > 0 {
				time.AfterFunc(tc.cancel, cancel)
			}
			params := issueParams()
			params.Again, params.VisibleWithin = true, tc.within
			issued, err := harness.NewClient(t, config).Accounts.Issue(ctx, params)
			require.Equal(t, tc.took, time.Since(began))
			switch {
			case tc.is != nil:
				require.ErrorIs(t, err, tc.is)
				require.Equal(t, tc.refusal == 0, errors.Is(err, prepaid.ErrNotSeen))
				require.Equal(t, prepaid.OutcomeNotProcessed, harness.CallError(t, err).Outcome)
				require.ErrorContains(t, err, "search before the creation: ")
				require.Zero(t, service.created)
			case tc.visible == 0:
				require.NoError(t, err)
				require.False(t, issued.Created)
				require.Zero(t, service.created)
			default:
				require.NoError(t, err)
				require.Equal(t, 1, service.created)
			}
		})
	}
}

// An account of another company with the same key does not match.
func TestIssueInAnotherCompany(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		service := &register{t: t, accounts: []registered{{row: strings.Replace(row(1, "active"), `"company_id":7`, `"company_id":8`, 1)}}}
		issued, err := issue(t, service, nil)
		require.NoError(t, err)
		require.EqualValues(t, "acc-2", issued.Account.ID)
	})
}

// FindCreated searches by key or through the company, and never creates.
func TestFindCreated(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		params prepaid.FindCreatedParams
		target string
		found  prepaid.AccountID
		is     error
	}{
		"by key": {
			prepaid.FindCreatedParams{ProgramClientID: "acme", ClientAccountKey: "emp-7", ExternalAccountID: "ext-2"},
			"/3.0/accounts?client_account_key=emp-7&client_id=acme&page_number=1&page_size=100", "acc-2", nil,
		},
		"by external id": {
			prepaid.FindCreatedParams{CompanyID: 7, ExternalAccountID: "ext-3"}, "/3.0/accounts/company/7?page_number=1&page_size=100", "acc-3", nil,
		},
		"by external id in a program": {
			prepaid.FindCreatedParams{CompanyID: 7, ExternalAccountID: "ext-3", ProgramClientID: "acme"},
			"/3.0/accounts/company/7?client_id=acme&page_number=1&page_size=100", "acc-3", nil,
		},
		"several":   {prepaid.FindCreatedParams{ProgramClientID: "acme", ClientAccountKey: "emp-7"}, "", "", prepaid.ErrAmbiguous},
		"replacing": {prepaid.FindCreatedParams{ProgramClientID: "acme", ClientAccountKey: "emp-7", Replacing: true}, "", "acc-3", nil},
		"none": {
			prepaid.FindCreatedParams{CompanyID: 7, ExternalAccountID: "ext-9", VisibleWithin: 10 * time.Second}, "", "", prepaid.ErrNotSeen,
		},
	} {
		bubble(t, name, func(t *testing.T) {
			service := &register{accounts: []registered{{row: row(1, "lost_or_stolen")}, {row: row(2, "replaced")}, {row: row(3, "active")}}}
			account, err := harness.NewClient(t, harness.ClockConfig(service)).Accounts.FindCreated(t.Context(), tc.params)
			require.Zero(t, service.created)
			if tc.target != "" {
				require.Equal(t, []string{tc.target}, service.searches)
			}
			if tc.is != nil {
				require.ErrorIs(t, err, tc.is)
				require.Equal(t, prepaid.OutcomeUnknown, harness.CallError(t, err).Outcome, "a look proves nothing")
				require.Nil(t, account)
				return
			}
			require.NoError(t, err)
			require.Equal(t, tc.found, account.ID)
		})
	}
}

// When the context ends, so does the search; the error has both causes.
func TestFindCreatedEndsWithContext(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := harness.NewClient(t, harness.ClockConfig(&register{}))
		params := prepaid.FindCreatedParams{CompanyID: 7, ExternalAccountID: "ext-9"}
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		began := time.Now()
		_, err := client.Accounts.FindCreated(ctx, params)
		require.ErrorIs(t, err, prepaid.ErrNotSeen)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Equal(t, 1400*time.Millisecond, time.Since(began), "the next pause would outlast the deadline")

		ctx, cancel = context.WithCancel(t.Context())
		time.AfterFunc(time.Second, cancel)
		began = time.Now()
		_, err = client.Accounts.FindCreated(ctx, params)
		require.ErrorIs(t, err, prepaid.ErrNotSeen)
		require.Equal(t, time.Second, time.Since(began))
	})
}

// A cancelled search for a movement returns the context's error.
func TestCancelledLooksSaySo(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		client := harness.NewClient(t, harness.ClockConfig(&ledger{}))
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		lost := &prepaid.CallError{FirstSent: time.Now(), LastSent: time.Now()}
		query := prepaid.FindMovementParams{AccountID: "acc-1", Amount: prepaid.MustAmount("25.50")}.Between(lost.FirstSent, lost.LastSent)
		finding, err := client.Accounts.FindMovement(ctx, query)
		require.ErrorIs(t, err, prepaid.ErrNotSeen)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.False(t, finding.To.After(time.Now()))
	})
}
