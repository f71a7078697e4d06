package e2e

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func TestE2EMerchantCategoryCodes(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{})
	page, err := s.client.Policy.MerchantCategoryCodesPage(t.Context(), prepaid.Paging{Size: 10})
	require.NoError(t, err)
	require.Equal(t, prepaid.MerchantCategory{Code: "0742", Description: "Veterinary services"}, page.Items[0], "742 on the wire")
	require.Equal(t, []int{1, 10, 10}, []int{page.Number, page.Size, len(page.Items)})
	require.Positive(t, page.TotalPages)
	for _, prefetch := range []int{0, 4} {
		seen := map[prepaid.MCC]bool{}
		params := prepaid.Paging{Size: 10, Prefetch: prefetch}
		for code, err := range s.client.Policy.MerchantCategoryCodes(t.Context(), params) {
			require.NoError(t, err)
			require.NotEmpty(t, code.Description)
			seen[code.Code] = true
		}
		require.Len(t, seen, page.TotalItems)
	}
	_, err = s.client.Policy.MerchantCategoryCodesPage(t.Context(), prepaid.Paging{Page: 1000})
	refused(t, err, 400, "invalid_request")
}

// Each view shows every rule that a change adds, in an open and in a closed loop, until a change removes it.
func TestE2EPolicy(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		loop   prepaidtest.Loop
		action prepaid.PolicyAction
		old    prepaid.RestrictionType
		rule   prepaid.RestrictionRuleType
	}{
		"open":   {prepaidtest.OpenLoop, prepaid.PolicyActionAllow, prepaid.RestrictionTypeOpen, prepaid.RestrictionRuleTypeMustBlock},
		"closed": {prepaidtest.ClosedLoop, prepaid.PolicyActionDeny, prepaid.RestrictionTypeClose, prepaid.RestrictionRuleTypeMustAllow},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newStage(t, prepaidtest.Options{})
			ctx, policies := t.Context(), s.client.Policy
			s.AddCompany(prepaidtest.Company{ID: 43, Loop: c.loop})
			require.NoError(t, policies.ChangeCategories(ctx, 43, prepaid.ChangeRulesParams[prepaid.MCC]{
				Reason: "audit", Add: []prepaid.MCC{"0742", "7995"},
			}))
			require.JSONEq(t, `{"reason":"audit","add":[742,7995]}`, s.sent("POST /policy/{id}/categories"))
			require.NoError(t, policies.ChangeMerchants(ctx, 43, prepaid.ChangeRulesParams[prepaid.MerchantRule]{
				Reason: "audit", Add: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}},
			}))
			terminal := prepaid.TerminalRule{
				AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1", CardAcceptorNameLocation: "SHOP SYDNEY", Description: "till 1",
			}
			bare := prepaid.TerminalRule{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T2"}
			require.NoError(t, policies.ChangeTerminals(ctx, 43, prepaid.ChangeRulesParams[prepaid.TerminalRule]{
				Reason: "audit", Add: []prepaid.TerminalRule{terminal, bare},
			}))

			policy, err := policies.Get(ctx, 43)
			require.NoError(t, err)
			require.Len(t, policy.Merchants, 1)
			require.Len(t, policy.Terminals, 2)
			terminal.ID, bare.ID = policy.Terminals[0].ID, policy.Terminals[1].ID
			merchant := prepaid.MerchantRule{ID: policy.Merchants[0].ID, AcquirerID: 1, CardAcceptorID: "SHOP", Description: "a shop"}
			require.Equal(t, &prepaid.Policy{
				DefaultAction: c.action, Description: policy.Description,
				Categories: []prepaid.CategoryRule{{MerchantCategoryCode: "0742"}, {MerchantCategoryCode: "7995"}},
				Merchants:  []prepaid.MerchantRule{merchant}, Terminals: []prepaid.TerminalRule{terminal, bare},
			}, policy)
			require.NotEmpty(t, policy.Description)
			require.True(t, policy.DefaultAction.Known())
			require.NotZero(t, merchant.ID)
			require.NotEqual(t, terminal.ID, bare.ID)

			part := *policy
			part.Merchants, part.Terminals = nil, nil
			view, err := policies.Categories(ctx, 43)
			require.NoError(t, err)
			require.Equal(t, &part, view)
			part = *policy
			part.Categories, part.Terminals = nil, nil
			view, err = policies.Merchants(ctx, 43)
			require.NoError(t, err)
			require.Equal(t, &part, view)
			part = *policy
			part.Categories, part.Merchants = nil, nil
			view, err = policies.Terminals(ctx, 43)
			require.NoError(t, err)
			require.Equal(t, &part, view)

			restrictions, err := policies.Restrictions(ctx, 43)
			require.NoError(t, err)
			require.Equal(t, &prepaid.Restrictions{
				Type: c.old,
				TerminalRules: []prepaid.RestrictionTerminalRule{
					{RuleType: c.rule, Acquirer: "1", Acceptor: "SHOP", Terminal: "T1"}, {RuleType: c.rule, Acquirer: "1", Acceptor: "SHOP", Terminal: "T2"},
				},
				CategoryRules: []prepaid.RestrictionCategoryRule{{RuleType: c.rule, CategoryCode: "0742"}, {RuleType: c.rule, CategoryCode: "7995"}},
			}, restrictions)

			require.NoError(t, policies.ChangeCategories(ctx, 43, prepaid.ChangeRulesParams[prepaid.MCC]{Remove: []prepaid.MCC{"0742"}}))
			require.NoError(t, policies.ChangeMerchants(ctx, 43, prepaid.ChangeRulesParams[prepaid.MerchantRule]{
				Remove: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "SHOP"}},
			}))
			require.NoError(t, policies.ChangeTerminals(ctx, 43, prepaid.ChangeRulesParams[prepaid.TerminalRule]{
				Remove: []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "SHOP", TerminalID: "T1"}},
			}))
			policy, err = policies.Get(ctx, 43)
			require.NoError(t, err)
			require.Equal(t, []prepaid.CategoryRule{{MerchantCategoryCode: "7995"}}, policy.Categories)
			require.Empty(t, policy.Merchants)
			require.Equal(t, []prepaid.TerminalRule{bare}, policy.Terminals)

			// Rules that were read can be added as they are.
			require.NoError(t, policies.ChangeTerminals(ctx, 43, prepaid.ChangeRulesParams[prepaid.TerminalRule]{
				Add: policy.Terminals, Remove: []prepaid.TerminalRule{},
			}))
			require.JSONEq(t, `{"add":[{"acquirer_id":1,"card_acceptor_id":"SHOP","terminal_id":"T2"}]}`, s.sent("POST /policy/{id}/terminals"))
		})
	}
}

func TestE2EPolicyRefused(t *testing.T) {
	t.Parallel()
	s := newStage(t, prepaidtest.Options{PermittedCompanies: []prepaid.CompanyID{42, 44}})
	s.AddCompany(prepaidtest.Company{ID: 43})
	s.AddCompany(prepaidtest.Company{ID: 44, Loop: prepaidtest.NoPolicy})
	ctx, policies := t.Context(), s.client.Policy
	change := func(id prepaid.CompanyID, approval bool) map[string]error {
		return map[string]error{
			"categories": policies.ChangeCategories(ctx, id, prepaid.ChangeRulesParams[prepaid.MCC]{RequireApproval: approval}),
			"merchants":  policies.ChangeMerchants(ctx, id, prepaid.ChangeRulesParams[prepaid.MerchantRule]{RequireApproval: approval}),
			"terminals":  policies.ChangeTerminals(ctx, id, prepaid.ChangeRulesParams[prepaid.TerminalRule]{RequireApproval: approval}),
		}
	}
	for name, err := range change(43, false) {
		require.ErrorIs(t, refused(t, err, 403, "forbidden"), prepaid.ErrForbidden, name)
	}
	for _, id := range []prepaid.CompanyID{44, 77} {
		for name, err := range change(id, false) {
			require.ErrorIs(t, refused(t, err, 404, "policy_not_found"), prepaid.ErrNotFound, name)
		}
	}
	for name, err := range change(42, true) {
		require.Equal(t, "invalid fields: require_approval is reserved and must be false", refused(t, err, 400, "invalid_request").Description, name)
	}
	for name, err := range map[string]error{
		"policy": done(policies.Get(ctx, 44)), "categories": done(policies.Categories(ctx, 44)), "merchants": done(policies.Merchants(ctx, 44)),
		"terminals": done(policies.Terminals(ctx, 44)), "restrictions": done(policies.Restrictions(ctx, 44)),
	} {
		require.ErrorIs(t, refused(t, err, 404, "policy_not_found"), prepaid.ErrNotFound, name)
	}
}
