package contract

import (
	"context"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

var (
	casino = prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "CASINO", Description: "Casino"}
	races  = prepaid.MerchantRule{AcquirerID: 1, CardAcceptorID: "RACES", Description: "Race course"}
	hotel  = prepaid.MerchantRule{AcquirerID: 2, CardAcceptorID: "CASINO", Description: "Hotel"} // of another acquirer
)

func till(number, text string) prepaid.TerminalRule {
	return prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: number, Description: text}
}

// writes are the changes that arrived, in their order.
func (s *stage) writes() []string {
	bodies := []string{}
	for _, r := range s.Requests() {
		if r.Method == http.MethodPost && strings.HasPrefix(r.Template, "/policy/") {
			bodies = append(bodies, strings.TrimPrefix(r.Template, "/policy/{id}/")+" "+r.Body)
		}
	}
	return bodies
}

// ensures checks a dry run, a run and a second run, which writes nothing.
func ensures[R comparable](
	t *testing.T, s *stage, ensure func(context.Context, prepaid.CompanyID, prepaid.EnsureRulesParams[R]) (*prepaid.EnsureRulesResult[R], error),
	p prepaid.EnsureRulesParams[R], want *prepaid.EnsureRulesResult[R], writes ...string,
) {
	t.Helper()
	before := len(s.writes())
	p.RemoveOthers, p.ReplaceTexts, p.Reason = true, true, "audit"
	for _, p.DryRun = range []bool{true, false} {
		require.Len(t, s.writes(), before, "a dry run sends nothing")
		got, err := ensure(t.Context(), 43, p)
		require.NoError(t, err)
		require.Equal(t, want, got)
		require.True(t, got.Changed())
	}
	require.Equal(t, writes, s.writes()[before:])
	read := len(s.Requests())
	got, err := ensure(t.Context(), 43, p)
	require.NoError(t, err)
	require.Len(t, s.Requests(), read+1, "the list is read once")
	require.False(t, got.Changed())
	require.Len(t, got.Unchanged, 2)
}

// Restrictions are sent first: additions in an open loop, removals in a closed loop. A second run writes nothing.
func TestE2EEnsurePolicy(t *testing.T) {
	t.Parallel()
	for action, loop := range map[prepaid.PolicyAction]prepaidtest.Loop{
		prepaid.PolicyActionAllow: prepaidtest.OpenLoop, prepaid.PolicyActionDeny: prepaidtest.ClosedLoop,
	} {
		onStage(t, func(t *testing.T, s *stage) {
			s.AddCompany(prepaidtest.Company{ID: 43, Loop: loop})
			ctx, policies := t.Context(), s.client.Policy
			require.NoError(t, policies.ChangeCategories(ctx, 43, prepaid.ChangeRulesParams[prepaid.MCC]{Add: []prepaid.MCC{"0742", "5933"}}))
			require.NoError(t, policies.ChangeMerchants(ctx, 43, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: []prepaid.MerchantRule{casino, races}}))
			require.NoError(t, policies.ChangeTerminals(ctx, 43, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Add: []prepaid.TerminalRule{till("T1", "a"), till("T2", "")}}))
			ordered := func(add, remove string, replace ...string) []string {
				if action == prepaid.PolicyActionDeny {
					add, remove = remove, add
				}
				return append(append([]string{add}, replace...), remove)
			}
			ensures(t, s, policies.EnsureCategories, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: action, Rules: []prepaid.MCC{"7995", "0742"}},
				&prepaid.EnsureRulesResult[prepaid.MCC]{Added: []prepaid.MCC{"7995"}, Removed: []prepaid.MCC{"5933"}, Unchanged: []prepaid.MCC{"0742"}},
				ordered(`categories {"reason":"audit","add":[7995]}`, `categories {"reason":"audit","remove":[5933]}`)...)
			other := casino
			other.Description, other.ID = "Casino of Sydney", 99 // of an earlier reading
			merchants := []prepaid.MerchantRule{other, hotel}
			ensures(t, s, policies.EnsureMerchants, prepaid.EnsureRulesParams[prepaid.MerchantRule]{DefaultAction: action, Rules: merchants},
				&prepaid.EnsureRulesResult[prepaid.MerchantRule]{Added: []prepaid.MerchantRule{hotel}, Replaced: []prepaid.MerchantRule{casino}, Removed: []prepaid.MerchantRule{races}},
				ordered(
					`merchants {"reason":"audit","add":[{"acquirer_id":2,"card_acceptor_id":"CASINO","description":"Hotel"}]}`,
					`merchants {"reason":"audit","remove":[{"acquirer_id":1,"card_acceptor_id":"RACES"}]}`,
					`merchants {"reason":"audit","remove":[{"acquirer_id":1,"card_acceptor_id":"CASINO"}]}`,
					`merchants {"reason":"audit","add":[{"acquirer_id":1,"card_acceptor_id":"CASINO","description":"Casino of Sydney"}]}`,
				)...)
			require.Equal(t, int64(99), merchants[0].ID, "the caller's list is the caller's")
			ensures(t, s, policies.EnsureTerminals, prepaid.EnsureRulesParams[prepaid.TerminalRule]{DefaultAction: action, Rules: []prepaid.TerminalRule{till("T2", "till 2"), till("T3", "")}},
				&prepaid.EnsureRulesResult[prepaid.TerminalRule]{
					Added: []prepaid.TerminalRule{till("T3", "")}, Replaced: []prepaid.TerminalRule{till("T2", "")}, Removed: []prepaid.TerminalRule{till("T1", "a")},
				},
				ordered(
					`terminals {"reason":"audit","add":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T3"}]}`,
					`terminals {"reason":"audit","remove":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T1"}]}`,
					`terminals {"reason":"audit","remove":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T2"}]}`,
					`terminals {"reason":"audit","add":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T2","description":"till 2"}]}`,
				)...)
		})
	}
}

// If the second of the two calls that replace a text fails, the result has the earlier text, which the service no longer has.
func TestE2EEnsureStopsInAReplacement(t *testing.T) {
	t.Parallel()
	onStage(t, func(t *testing.T, s *stage) {
		ctx, policies := t.Context(), s.client.Policy
		require.NoError(t, policies.ChangeMerchants(ctx, prepaidtest.DefaultCompany, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: []prepaid.MerchantRule{casino}}))
		s.Inject("POST /policy/{id}/merchants", prepaidtest.Delay(0), prepaidtest.Respond(403, ""))
		other := casino
		other.Description = "Casino of Sydney"
		done, err := policies.EnsureMerchants(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MerchantRule{other}, ReplaceTexts: true,
		})
		require.ErrorIs(t, err, prepaid.ErrForbidden)
		require.Equal(t, &prepaid.EnsureRulesResult[prepaid.MerchantRule]{Removed: []prepaid.MerchantRule{casino}, Missing: []prepaid.MerchantRule{other}}, done)
		require.True(t, done.Changed())
	})
}

// Rules are removed, and texts replaced, only on request.
func TestE2EEnsureLeavesOthers(t *testing.T) {
	t.Parallel()
	onStage(t, func(t *testing.T, s *stage) {
		ctx, policies := t.Context(), s.client.Policy
		require.NoError(t, policies.ChangeMerchants(ctx, prepaidtest.DefaultCompany, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Add: []prepaid.MerchantRule{casino, races}}))
		other := casino
		other.Description = "another text"
		result, err := policies.EnsureMerchants(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MerchantRule{other, hotel},
		})
		require.NoError(t, err)
		require.Equal(t, &prepaid.EnsureRulesResult[prepaid.MerchantRule]{
			Added: []prepaid.MerchantRule{hotel}, Left: []prepaid.MerchantRule{casino, races},
		}, result)
		nothing, err := policies.EnsureMerchants(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MerchantRule]{DefaultAction: prepaid.PolicyActionAllow})
		require.NoError(t, err)
		require.Len(t, nothing.Left, 3)
		all, err := policies.EnsureMerchants(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MerchantRule{}, RemoveOthers: true,
		})
		require.NoError(t, err)
		require.Len(t, all.Removed, 3)
	})
}

// Ambiguous input is refused before anything is sent.
func TestE2EEnsureRefuses(t *testing.T) {
	t.Parallel()
	onStage(t, func(t *testing.T, s *stage) {
		ctx, policies := t.Context(), s.client.Policy
		_, err := policies.EnsureMerchants(ctx, 0, prepaid.EnsureRulesParams[prepaid.MerchantRule]{
			Rules: []prepaid.MerchantRule{{}, casino, {AcquirerID: 1, CardAcceptorID: "CASINO", Description: "again"}}, Reason: "\xff",
		})
		invalid(t, err, "company", "default_action", "merchants[0].acquirer_id", "merchants[0].card_acceptor_id", "merchants[0].description", "merchants[2]", "reason")
		require.ErrorContains(t, err, "merchants[2] is listed twice")
		_, err = policies.EnsureTerminals(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.TerminalRule]{DefaultAction: "close", Rules: []prepaid.TerminalRule{{Description: "\xff"}}})
		invalid(t, err, "default_action", "terminals[0].acquirer_id", "terminals[0].card_acceptor_id", "terminals[0].terminal_id", "terminals[0].description")
		_, err = policies.EnsureCategories(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"742"}})
		invalid(t, err, "categories[0]")
		_, err = policies.EnsureCategories(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: prepaid.PolicyActionAllow, RemoveOthers: true})
		invalid(t, err, "categories")
		require.Empty(t, s.Requests())

		_, err = policies.EnsureCategories(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: prepaid.PolicyActionDeny, Rules: []prepaid.MCC{"7995"}})
		invalid(t, err, "default_action")
		require.ErrorContains(t, err, "must be the policy's, or the rules would do the opposite: allow")
		const twice = `{"default_action":"allow","description":"","merchants":[` +
			`{"acquirer_id":1,"card_acceptor_id":"CASINO","description":"a","id":1},{"acquirer_id":1,"card_acceptor_id":"CASINO","description":"b","id":2}]}`
		s.Inject("GET /policy/{id}/merchants", prepaidtest.RespondBody(200, "application/vnd.vendor+json", twice))
		_, err = policies.EnsureMerchants(ctx, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MerchantRule]{DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MerchantRule{casino}})
		require.ErrorIs(t, err, prepaid.ErrAmbiguous)
		require.Equal(t, prepaid.OutcomeRejected, prepaid.OutcomeOf(err))
		s.AddCompany(prepaidtest.Company{ID: 8, Loop: prepaidtest.NoPolicy})
		_, err = policies.EnsureCategories(ctx, 8, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: prepaid.PolicyActionAllow})
		require.ErrorIs(t, err, prepaid.ErrNotFound)
		require.Empty(t, s.writes())

		cancelled, cancel := context.WithCancel(ctx)
		cancel()
		_, err = policies.EnsureCategories(cancelled, prepaidtest.DefaultCompany, prepaid.EnsureRulesParams[prepaid.MCC]{DefaultAction: prepaid.PolicyActionAllow, Rules: []prepaid.MCC{"7995"}})
		require.ErrorIs(t, err, context.Canceled)
		require.Equal(t, prepaid.OutcomeNotProcessed, prepaid.OutcomeOf(err))
	})
}
