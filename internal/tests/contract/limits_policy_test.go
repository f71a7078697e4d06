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

// element returns the i-th element of a list, made long enough.
func element[P, T any](i int, list func(*P) *[]T) func(*P) *T {
	return func(p *P) *T {
		for len(*list(p)) <= i {
			*list(p) = append(*list(p), (*list(p))[0])
		}
		return &(*list(p))[i]
	}
}

func acquirerRow[P any](field string, id func(*P) *int64) limit[P] {
	return limit[P]{ref: "4.3", field: field, rule: "is required", bad: put(id, 0), good: put(id, 1)}
}

// Section 4.3, the three bodies.
func TestValidationPolicyChanges(t *testing.T) {
	t.Parallel()
	t.Run("categories", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.ChangeRulesParams[prepaid.MCC]
		rows := mccLimits("4.3", "add[2]", element(2, func(p *P) *[]prepaid.MCC { return &p.Add }))
		rows = append(rows, mccLimits("4.3", "remove[1]", element(1, func(p *P) *[]prepaid.MCC { return &p.Remove }))...)
		requireLimits(t, func() P { return P{Add: []prepaid.MCC{"5411"}, Remove: []prepaid.MCC{"0742"}} },
			func(ctx context.Context, c *prepaid.Client, p P) error { return c.Policy.ChangeCategories(ctx, 7, p) }, rows...)
	})
	t.Run("merchants", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.ChangeRulesParams[prepaid.MerchantRule]
		add := element(1, func(p *P) *[]prepaid.MerchantRule { return &p.Add })
		requireLimits(t,
			func() P {
				return P{
					Add:    []prepaid.MerchantRule{{ID: 9, AcquirerID: 1, CardAcceptorID: "c", Description: "d"}},
					Remove: []prepaid.MerchantRule{{AcquirerID: 1, CardAcceptorID: "c"}},
				}
			},
			func(ctx context.Context, c *prepaid.Client, p P) error { return c.Policy.ChangeMerchants(ctx, 7, p) },
			acquirerRow("add[1].acquirer_id", func(p *P) *int64 { return &add(p).AcquirerID }),
			needed("4.3", "add[1].card_acceptor_id", func(p *P) *string { return &add(p).CardAcceptorID }),
			needed("4.3", "add[1].description", func(p *P) *string { return &add(p).Description }),
		)
		requireRefusal(t, sendsNothing(t, harness.Calling("Policy.ChangeMerchants", 0, P{Reason: "\xff", Add: make([]prepaid.MerchantRule, 1), Remove: make([]prepaid.MerchantRule, 1)})),
			"", fields("company", "reason", "add[0].acquirer_id", "add[0].card_acceptor_id", "add[0].description")...)
	})
	t.Run("terminals", func(t *testing.T) {
		t.Parallel()
		type P = prepaid.ChangeRulesParams[prepaid.TerminalRule]
		add := element(1, func(p *P) *[]prepaid.TerminalRule { return &p.Add })
		requireLimits(t,
			func() P {
				return P{
					Add:    []prepaid.TerminalRule{{ID: 9, AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
					Remove: []prepaid.TerminalRule{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
				}
			},
			func(ctx context.Context, c *prepaid.Client, p P) error { return c.Policy.ChangeTerminals(ctx, 7, p) },
			acquirerRow("add[1].acquirer_id", func(p *P) *int64 { return &add(p).AcquirerID }),
			needed("4.3", "add[1].card_acceptor_id", func(p *P) *string { return &add(p).CardAcceptorID }),
			needed("4.3", "add[1].terminal_id", func(p *P) *string { return &add(p).TerminalID }),
		)
		requireRefusal(t, sendsNothing(t, harness.Calling("Policy.ChangeTerminals", 7, P{Add: make([]prepaid.TerminalRule, 1), Remove: make([]prepaid.TerminalRule, 1)})),
			"", fields("add[0].acquirer_id", "add[0].card_acceptor_id", "add[0].terminal_id")...)
	})
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
