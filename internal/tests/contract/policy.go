package contract

import (
	"context"

	"github.com/cardprograms/prepaid"
)

func policyFixtures() []Case {
	cases := append(categoryCodeFixtures(), restrictionFixtures()...)
	get := fixtureWith[*prepaid.Policy]("Policy.Get", prepaid.CompanyID(4217))
	terminals := []prepaid.TerminalRule{
		{
			ID: 9101, AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042",
			CardAcceptorNameLocation: "CORNER STORE SYDNEY NSW AU", Description: "Till 1",
		},
		{ID: 9102, AcquirerID: 560002, CardAcceptorID: "000000003210988", TerminalID: "T0000043"},
	}
	categories := []prepaid.CategoryRule{{MerchantCategoryCode: "0742"}, {MerchantCategoryCode: "5411"}}
	merchants := []prepaid.MerchantRule{{ID: 9001, AcquirerID: 560001, CardAcceptorID: "000000003210987", Description: "Corner Store"}}
	cases = append(cases,
		get.gives("200", &prepaid.Policy{
			DefaultAction: prepaid.PolicyActionAllow, Description: "Open loop, gambling blocked",
			Terminals: terminals, Categories: categories, Merchants: merchants,
		}),
		get.gives("200-required-only", &prepaid.Policy{DefaultAction: prepaid.PolicyActionDeny, Description: "Closed loop"}),
		get.gives("200-unknown-values", &prepaid.Policy{
			DefaultAction: "ask", Description: "From a later version",
			Terminals: []prepaid.TerminalRule{}, Categories: []prepaid.CategoryRule{{MerchantCategoryCode: "0742"}}, Merchants: merchants,
		}),
		fixtureWith[*prepaid.Policy]("Policy.Categories", prepaid.CompanyID(4217)).gives("200",
			&prepaid.Policy{DefaultAction: prepaid.PolicyActionDeny, Description: "Closed loop", Categories: categories}),
		fixtureWith[*prepaid.Policy]("Policy.Merchants", prepaid.CompanyID(4217)).gives("200",
			&prepaid.Policy{DefaultAction: prepaid.PolicyActionDeny, Description: "Closed loop", Merchants: merchants}),
		fixtureWith[*prepaid.Policy]("Policy.Terminals", prepaid.CompanyID(4217)).gives("200",
			&prepaid.Policy{DefaultAction: prepaid.PolicyActionDeny, Description: "Closed loop", Terminals: terminals}),
	)
	for _, view := range []string{"Policy.Get", "Policy.Categories", "Policy.Merchants", "Policy.Terminals"} {
		cases = append(cases, fixtureWith[*prepaid.Policy](view, prepaid.CompanyID(4217)).usual(exampleInvalidToken, prepaid.OutcomeNotProcessed)...)
	}
	return cases
}

func categoryCodeFixtures() []Case {
	page := fixtureOf("Policy.MerchantCategoryCodes", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.MerchantCategory], error) {
		return fixturePage(client.Policy.MerchantCategoryCodesPage(ctx, prepaid.Paging{Page: 2, Size: 2}))
	})
	all := fixtureOf("Policy.MerchantCategoryCodes", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.MerchantCategory, error) {
		return prepaid.Collect(client.Policy.MerchantCategoryCodes(ctx, prepaid.Paging{}), 10)
	})
	return append(page.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		page.gives("200", &prepaid.Page[prepaid.MerchantCategory]{
			Items: []prepaid.MerchantCategory{
				{Code: "0742", Description: "Veterinary Services"}, {Code: "5411", Description: "Grocery Stores, Supermarkets"},
			},
			Number: 2, Size: 10, TotalPages: 3, TotalItems: 24,
		}),
		all.gives("200-single-page", []*prepaid.MerchantCategory{
			{Code: "0742", Description: "Veterinary Services"}, {Code: "6011", Description: "Automated Cash Disbursements"},
		}),
		page.gives("204", &prepaid.Page[prepaid.MerchantCategory]{Number: 2, Size: 10}),
		page.throttled(),
	)
}

func restrictionFixtures() []Case {
	restrictions := fixtureWith[*prepaid.Restrictions]("Policy.Restrictions", prepaid.CompanyID(4217))
	return append(restrictions.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		restrictions.gives("200", &prepaid.Restrictions{
			Type: prepaid.RestrictionTypeOpen,
			TerminalRules: []prepaid.RestrictionTerminalRule{
				{RuleType: prepaid.RestrictionRuleTypeMustBlock, Acquirer: "560001", Acceptor: "000000003210987", Terminal: "T0000042"},
				{RuleType: prepaid.RestrictionRuleTypeMustAllow, Acquirer: "560002", Acceptor: "000000003210988", Terminal: "T0000043"},
			},
			CategoryRules: []prepaid.RestrictionCategoryRule{
				{RuleType: prepaid.RestrictionRuleTypeMustBlock, CategoryCode: "7995"}, {RuleType: prepaid.RestrictionRuleTypeMustAllow, CategoryCode: "0742"},
			},
		}),
		restrictions.gives("200-closed", &prepaid.Restrictions{
			Type: prepaid.RestrictionTypeClose, TerminalRules: []prepaid.RestrictionTerminalRule{}, CategoryRules: []prepaid.RestrictionCategoryRule{},
		}),
	)
}
