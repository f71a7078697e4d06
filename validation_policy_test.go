package prepaid

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"
)

// Section 4.3: the path id is the company, a number.
func TestValidationPolicyReads(t *testing.T) {
	t.Parallel()
	for name, call := range map[string]func(context.Context, *Client, CompanyID) error{
		"Get": func(ctx context.Context, c *Client, id CompanyID) error { _, err := c.Policy.Get(ctx, id); return err },
		"Categories": func(ctx context.Context, c *Client, id CompanyID) error {
			_, err := c.Policy.Categories(ctx, id)
			return err
		},
		"Merchants": func(ctx context.Context, c *Client, id CompanyID) error {
			_, err := c.Policy.Merchants(ctx, id)
			return err
		},
		"Terminals": func(ctx context.Context, c *Client, id CompanyID) error {
			_, err := c.Policy.Terminals(ctx, id)
			return err
		},
		"Restrictions": func(ctx context.Context, c *Client, id CompanyID) error {
			_, err := c.Policy.Restrictions(ctx, id)
			return err
		},
		"SearchCompany": func(ctx context.Context, c *Client, id CompanyID) error {
			_, err := Collect(c.Accounts.SearchCompany(ctx, id, SearchCompanyParams{}), 1)
			return err
		},
		"ChangeCategories": func(ctx context.Context, c *Client, id CompanyID) error {
			return c.Policy.ChangeCategories(ctx, id, ChangeCategoriesParams{})
		},
		"ChangeMerchants": func(ctx context.Context, c *Client, id CompanyID) error {
			return c.Policy.ChangeMerchants(ctx, id, ChangeMerchantsParams{})
		},
		"ChangeTerminals": func(ctx context.Context, c *Client, id CompanyID) error {
			return c.Policy.ChangeTerminals(ctx, id, ChangeTerminalsParams{})
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, func() CompanyID { return 7 }, call, limit[CompanyID]{
				ref: "4.3", field: "company", rule: "is required", bad: func(id *CompanyID) { *id = 0 }, good: func(id *CompanyID) { *id = 1 << 62 },
			})
		})
	}
	for name, rows := range map[string][]limit[Paging]{"mccodes": pagingLimits()} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			refused(t, func() Paging { return Paging{} }, func(ctx context.Context, c *Client, p Paging) error {
				_, err := c.Policy.MerchantCategoryCodesPage(ctx, ListMerchantCategoryCodesParams{Paging: p})
				return err
			}, rows...)
			refused(t, func() Paging { return Paging{} }, func(ctx context.Context, c *Client, p Paging) error {
				_, err := Collect(c.Policy.MerchantCategoryCodes(ctx, ListMerchantCategoryCodesParams{Paging: p}), 1)
				return err
			}, rows...)
		})
	}
}

// at returns the i-th element of a list, made long enough.
func at[P, T any](i int, list func(*P) *[]T) func(*P) *T {
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
		type P = ChangeCategoriesParams
		rows := mccLimits("4.3", "add[2]", at(2, func(p *P) *[]MCC { return &p.Add }))
		rows = append(rows, mccLimits("4.3", "remove[1]", at(1, func(p *P) *[]MCC { return &p.Remove }))...)
		refused(t, func() P { return P{Add: []MCC{"5411"}, Remove: []MCC{"0742"}} },
			func(ctx context.Context, c *Client, p P) error { return c.Policy.ChangeCategories(ctx, 7, p) }, rows...)
	})
	t.Run("merchants", func(t *testing.T) {
		t.Parallel()
		type P = ChangeMerchantsParams
		add := at(1, func(p *P) *[]MerchantRule { return &p.Add })
		remove := at(1, func(p *P) *[]MerchantKey { return &p.Remove })
		refused(t,
			func() P {
				return P{
					Add:    []MerchantRule{{ID: 9, AcquirerID: 1, CardAcceptorID: "c", Description: "d"}},
					Remove: []MerchantKey{{AcquirerID: 1, CardAcceptorID: "c"}},
				}
			},
			func(ctx context.Context, c *Client, p P) error { return c.Policy.ChangeMerchants(ctx, 7, p) },
			acquirerRow("add[1].acquirer_id", func(p *P) *int64 { return &add(p).AcquirerID }),
			needed("4.3", "add[1].card_acceptor_id", func(p *P) *string { return &add(p).CardAcceptorID }),
			needed("4.3", "add[1].description", func(p *P) *string { return &add(p).Description }),
			acquirerRow("remove[1].acquirer_id", func(p *P) *int64 { return &remove(p).AcquirerID }),
			needed("4.3", "remove[1].card_acceptor_id", func(p *P) *string { return &remove(p).CardAcceptorID }),
		)
		requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error {
			return c.Policy.ChangeMerchants(ctx, 0, P{Reason: "\xff", Add: make([]MerchantRule, 1), Remove: make([]MerchantKey, 1)})
		}), "", fault{"company", ""}, fault{"reason", ""}, fault{"add[0].acquirer_id", ""}, fault{"add[0].card_acceptor_id", ""},
			fault{"add[0].description", ""}, fault{"remove[0].acquirer_id", ""}, fault{"remove[0].card_acceptor_id", ""})
	})
	t.Run("terminals", func(t *testing.T) {
		t.Parallel()
		type P = ChangeTerminalsParams
		add := at(1, func(p *P) *[]TerminalRule { return &p.Add })
		remove := at(1, func(p *P) *[]TerminalKey { return &p.Remove })
		refused(t,
			func() P {
				return P{
					Add:    []TerminalRule{{ID: 9, AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
					Remove: []TerminalKey{{AcquirerID: 1, CardAcceptorID: "c", TerminalID: "t"}},
				}
			},
			func(ctx context.Context, c *Client, p P) error { return c.Policy.ChangeTerminals(ctx, 7, p) },
			acquirerRow("add[1].acquirer_id", func(p *P) *int64 { return &add(p).AcquirerID }),
			needed("4.3", "add[1].card_acceptor_id", func(p *P) *string { return &add(p).CardAcceptorID }),
			needed("4.3", "add[1].terminal_id", func(p *P) *string { return &add(p).TerminalID }),
			acquirerRow("remove[1].acquirer_id", func(p *P) *int64 { return &remove(p).AcquirerID }),
			needed("4.3", "remove[1].card_acceptor_id", func(p *P) *string { return &remove(p).CardAcceptorID }),
			needed("4.3", "remove[1].terminal_id", func(p *P) *string { return &remove(p).TerminalID }),
		)
		requireRefusal(t, sendsNothing(t, func(ctx context.Context, c *Client) error {
			return c.Policy.ChangeTerminals(ctx, 7, P{Add: make([]TerminalRule, 1), Remove: make([]TerminalKey, 1)})
		}), "", fault{"add[0].acquirer_id", ""}, fault{"add[0].card_acceptor_id", ""}, fault{"add[0].terminal_id", ""},
			fault{"remove[0].acquirer_id", ""}, fault{"remove[0].card_acceptor_id", ""}, fault{"remove[0].terminal_id", ""})
	})
}

// Optional members of a rule, an empty change and a repeated rule are legal.
func TestValidationPolicyLeavesTheRestAlone(t *testing.T) {
	t.Parallel()
	sent := sends(t, "nothing", func(ctx context.Context, c *Client) error {
		return c.Policy.ChangeCategories(ctx, -7, ChangeCategoriesParams{})
	})
	require.Equal(t, "{}", sent.body)
	require.Contains(t, sent.path, "/policy/-7/categories")
	sends(t, "twice", func(ctx context.Context, c *Client) error {
		return c.Policy.ChangeCategories(ctx, 7, ChangeCategoriesParams{
			Reason: odd(5000), RequireApproval: true, Add: []MCC{"0000", "0000"}, Remove: []MCC{"0000"},
		})
	})
}
