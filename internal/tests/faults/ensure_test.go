package faults

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const company = prepaidtest.DefaultCompany

// ensure makes the list of merchants have one rule more and one less, and says how many rules were added, removed, left and missing.
func ensure(ctx context.Context, c *prepaid.Client) (counts [4]int, err error) {
	r, err := c.Policy.EnsureMerchants(ctx, company, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
		DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "CASINO", Description: "Casino"}}, RemoveOthers: true,
	})
	if r == nil {
		return [4]int{-1, -1, -1, -1}, err
	}
	return [4]int{len(r.Added), len(r.Removed), len(r.Left), len(r.Missing)}, err
}

// ensureStage is an emulator with a rule that is to be removed, and a client, in a synctest bubble.
type ensureStage struct {
	*prepaidtest.Server
	client *prepaid.Client
	config prepaid.Config
}

func newEnsureStage(t *testing.T) *ensureStage {
	t.Helper()
	srv, config, _, _ := virtualStage(t)
	s := &ensureStage{srv, harness.NewClient(t, config), config}
	require.NoError(t, s.Load(strings.NewReader(`{"companies": [{"id": 42, "client_id": "acme",
		"merchants": [{"acquirer_id": 1, "card_acceptor_id": "RACES", "description": "Race course"}]}]}`)))
	return s
}

// writes counts the changes that arrived.
func (s *ensureStage) writes() (n int) {
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && strings.HasPrefix(r.Template, "/policy/") {
			n++
		}
	}
	return n
}

// A fault of either call ends in the wanted rules or in an error that reports the present ones, and no call is repeated that may have
// arrived. Running it again completes it, and once more writes nothing.
func TestEnsureMeetsFaults(t *testing.T) {
	t.Parallel()
	unknown := [2]prepaid.Outcome{prepaid.OutcomeUnknown, prepaid.OutcomeUnknown}
	refused := [2]prepaid.Outcome{prepaid.OutcomeRejected, prepaid.OutcomeApplied} // applied: the first call was
	var none [2]prepaid.Outcome
	for name, c := range map[string]ensureFault{
		"response lost":      {prepaidtest.CommitThenDrop(), true, none, 0},
		"request lost":       {prepaidtest.DropBeforeCommit(), false, unknown, 0},
		"carried out late":   {prepaidtest.DropBeforeCommit().CommitAfter(2 * time.Second), true, none, 0},
		"server error":       {prepaidtest.Respond(500, ""), false, unknown, 0},
		"gateway":            {prepaidtest.ProxyPage(503), false, unknown, 0},
		"gateway's refusal":  {prepaidtest.ProxyPage(403), false, unknown, 0},
		"refused":            {prepaidtest.Respond(400, ""), false, refused, 0},
		"no permission":      {prepaidtest.Respond(403, ""), false, refused, 0},
		"throttled":          {prepaidtest.TooManyRequests(0), true, none, 1},
		"token expired":      {prepaidtest.ExpireToken(), true, none, 1},
		"unexpected success": {prepaidtest.RespondBody(202, "text/plain", "accepted"), false, unknown, 0},
	} {
		for position := range 2 {
			t.Run(fmt.Sprint(name, ", call ", position+1), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { c.meet(t, position) })
			})
		}
	}
}

type ensureFault struct {
	fault   prepaidtest.Fault
	done    bool               // it completes all the same
	outcome [2]prepaid.Outcome // of the error, by the call that has the fault
	again   int                // requests that the client sends again
}

func (c ensureFault) meet(t *testing.T, position int) {
	t.Helper()
	s := newEnsureStage(t)
	const operation = "POST /policy/{id}/merchants"
	if position == 1 {
		s.Inject(operation, prepaidtest.Fault{}) // for the first call, which has no body
	}
	s.Inject(operation, c.fault)
	counts, err := ensure(t.Context(), s.client)
	if c.done {
		require.NoError(t, err)
		require.Equal(t, [4]int{1, 1, 0, 0}, counts)
		require.Equal(t, 2+c.again, s.writes())
	} else {
		require.Equal(t, c.outcome[position], prepaid.OutcomeOf(err), "%v", err)
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, [4]int{position, 0, 1, 1 - position}, counts, "the result says what is there")
		require.Equal(t, 1+position, s.writes())
		_, err = ensure(t.Context(), s.client)
		require.NoError(t, err)
	}
	s.AllowOnly("GET /policy/{id}/merchants")
	counts, err = ensure(t.Context(), s.client)
	require.NoError(t, err)
	require.Equal(t, [4]int{}, counts)
}

// A response that is lost, and then the rules cannot be read: both causes are reported, and the outcome is unknown.
func TestEnsureCannotReadBack(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newEnsureStage(t)
		unreadable := func() {
			s.ClearFaults()
			s.Inject("GET /policy/{id}/merchants", prepaidtest.Fault{}, prepaidtest.Respond(403, "").Always())
		}
		unreadable()
		s.Inject("POST /policy/{id}/merchants", prepaidtest.CommitThenDrop())
		counts, err := ensure(t.Context(), s.client)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.ErrorIs(t, err, prepaid.ErrForbidden)
		require.NotContains(t, err.Error(), "\n")
		require.Equal(t, [4]int{0, 0, 1, 1}, counts, "what was known before")

		unreadable()
		counts, err = ensure(t.Context(), s.client)
		require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err), "acknowledged and not verified")
		require.ErrorIs(t, err, prepaid.ErrForbidden)
		require.Equal(t, [4]int{0, 1, 0, 0}, counts)
	})
}

// After an unknown outcome the rules are read at once and after 1 s and 3 s.
func TestEnsureLooksThreeTimes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newEnsureStage(t)
		s.Inject("POST /policy/{id}/merchants", prepaidtest.DropBeforeCommit())
		start := time.Now()
		_, err := ensure(t.Context(), s.client)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		var reads []time.Duration
		for _, r := range s.Requests() {
			if r.Method == http.MethodGet {
				reads = append(reads, r.Time.Sub(start))
			}
		}
		require.Equal(t, []time.Duration{0, 0, time.Second, 3 * time.Second}, reads)
	})
}

// A deadline that leaves no time to look again ends the search, with the outcome that was known.
func TestEnsureHasNoTimeToLookAgain(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		s := newEnsureStage(t)
		s.Inject("POST /policy/{id}/merchants", prepaidtest.DropBeforeCommit())
		ctx, cancel := context.WithTimeout(t.Context(), 500*time.Millisecond)
		defer cancel()
		start := time.Now()
		_, err := ensure(ctx, s.client)
		require.ErrorIs(t, err, context.DeadlineExceeded)
		require.Equal(t, prepaid.OutcomeUnknown, prepaid.OutcomeOf(err))
		require.Less(t, time.Since(start), 500*time.Millisecond)
	})
}

// meddler changes the policy after the response to another user's change.
type meddler struct {
	next   http.RoundTripper
	meddle func()
}

func (m *meddler) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := m.next.RoundTrip(r)
	if r.Method == http.MethodPost && strings.Contains(r.URL.Path, "/policy/") && m.meddle != nil {
		m.meddle()
		m.meddle = nil
	}
	return response, err
}

func TestEnsureReportsAnotherChange(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]prepaid.ChangeRulesParams[prepaid.MerchantRule]{
		"another rule":     {Add: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "PAWN", Description: "Pawnbroker"}}},
		"our rule is gone": {Remove: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "CASINO"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				s := newEnsureStage(t)
				m := &meddler{next: s.config.Transport}
				s.config.Transport = m
				client := harness.NewClient(t, s.config)
				m.meddle = func() { require.NoError(t, s.client.Policy.ChangeMerchants(t.Context(), company, change)) }
				counts, err := ensure(t.Context(), client)
				require.ErrorIs(t, err, prepaid.ErrPolicyChanged)
				require.Equal(t, prepaid.OutcomeApplied, prepaid.OutcomeOf(err))
				if change.Add != nil {
					require.Equal(t, [4]int{1, 1, 1, 0}, counts)
				} else {
					require.Equal(t, [4]int{0, 1, 0, 1}, counts)
				}
			})
		})
	}
}
