package contract

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/tests/harness"
)

// Section 4.3: the path id is the company, a number.
func TestValidationPolicyReads(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *prepaid.Client, prepaid.CompanyID) error{
		"Get":          method[prepaid.CompanyID]("Policy.Get"),
		"Categories":   method[prepaid.CompanyID]("Policy.Categories"),
		"Merchants":    method[prepaid.CompanyID]("Policy.Merchants"),
		"Terminals":    method[prepaid.CompanyID]("Policy.Terminals"),
		"Restrictions": method[prepaid.CompanyID]("Policy.Restrictions"),
		"SearchCompany": func(ctx context.Context, c *prepaid.Client, id prepaid.CompanyID) error {
			_, err := prepaid.Collect(c.Accounts.SearchCompany(ctx, id, prepaid.SearchCompanyParams{}), 1)
			return err
		},
		"ChangeCategories": func(ctx context.Context, c *prepaid.Client, id prepaid.CompanyID) error {
			return c.Policy.ChangeCategories(ctx, id, prepaid.ChangeRulesParams[prepaid.MCC]{})
		},
		"ChangeMerchants": func(ctx context.Context, c *prepaid.Client, id prepaid.CompanyID) error {
			return c.Policy.ChangeMerchants(ctx, id, prepaid.ChangeRulesParams[prepaid.MerchantRule]{})
		},
		"ChangeTerminals": func(ctx context.Context, c *prepaid.Client, id prepaid.CompanyID) error {
			return c.Policy.ChangeTerminals(ctx, id, prepaid.ChangeRulesParams[prepaid.TerminalRule]{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireLimits(t, func() prepaid.CompanyID { return 7 }, call, limit[prepaid.CompanyID]{
				ref: "4.3", field: "company", rule: "is required", bad: func(id *prepaid.CompanyID) { *id = 0 }, good: func(id *prepaid.CompanyID) { *id = 1 << 62 },
			})
		})
	}
	for name, rows := range map[string][]limit[prepaid.Paging]{"mccodes": pagingLimits()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			requireLimits(t, zero[prepaid.Paging], method[prepaid.Paging]("Policy.MerchantCategoryCodesPage"), rows...)
			requireLimits(t, zero[prepaid.Paging], method[prepaid.Paging]("Policy.MerchantCategoryCodes"), rows...)
		})
	}
}

// Optional members of a rule, an empty change and a repeated rule are legal, and so is the removal of any rule that the service holds.
func TestValidationPolicyLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	sends(t, "an empty merchant", harness.Calling("Policy.ChangeMerchants", 7, prepaid.ChangeRulesParams[prepaid.MerchantRule]{Remove: make([]prepaid.MerchantRule, 1)}))
	sends(t, "an empty terminal", harness.Calling("Policy.ChangeTerminals", 7, prepaid.ChangeRulesParams[prepaid.TerminalRule]{Remove: make([]prepaid.TerminalRule, 1)}))
	sent := sends(t, "nothing", harness.Calling("Policy.ChangeCategories", -7, prepaid.ChangeRulesParams[prepaid.MCC]{}))
	require.Equal(t, "{}", sent.body)
	require.Contains(t, sent.path, "/policy/-7/categories")
	sends(t, "twice", harness.Calling("Policy.ChangeCategories", 7, prepaid.ChangeRulesParams[prepaid.MCC]{
		Reason: harness.WideText(5000), RequireApproval: true, Add: []prepaid.MCC{"0000", "0000"}, Remove: []prepaid.MCC{"0000"},
	}))
}
