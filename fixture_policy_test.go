package prepaid

import "context"

func policyFixtures() []fixtureCase {
	cases := append(categoryCodeFixtures(), restrictionFixtures()...)
	get := policyFixture("Policy.Get", (*PolicyService).Get)
	terminals := []TerminalRule{
		{
			ID: 9101, AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042",
			CardAcceptorNameLocation: "CORNER STORE SYDNEY NSW AU", Description: "Till 1",
		},
		{ID: 9102, AcquirerID: 560002, CardAcceptorID: "000000003210988", TerminalID: "T0000043"},
	}
	categories := []CategoryRule{{MerchantCategoryCode: "0742"}, {MerchantCategoryCode: "5411"}}
	merchants := []MerchantRule{{ID: 9001, AcquirerID: 560001, CardAcceptorID: "000000003210987", Description: "Corner Store"}}
	cases = append(cases,
		get.gives("200", &Policy{
			DefaultAction: PolicyActionAllow, Description: "Open loop, gambling blocked",
			Terminals: terminals, Categories: categories, Merchants: merchants,
		}),
		get.gives("200-required-only", &Policy{DefaultAction: PolicyActionDeny, Description: "Closed loop"}),
		get.gives("200-unknown-values", &Policy{
			DefaultAction: "ask", Description: "From a later version",
			Terminals: []TerminalRule{}, Categories: []CategoryRule{{MerchantCategoryCode: "0742"}}, Merchants: merchants,
		}),
		policyFixture("Policy.Categories", (*PolicyService).Categories).gives("200",
			&Policy{DefaultAction: PolicyActionDeny, Description: "Closed loop", Categories: categories}),
		policyFixture("Policy.Merchants", (*PolicyService).Merchants).gives("200",
			&Policy{DefaultAction: PolicyActionDeny, Description: "Closed loop", Merchants: merchants}),
		policyFixture("Policy.Terminals", (*PolicyService).Terminals).gives("200",
			&Policy{DefaultAction: PolicyActionDeny, Description: "Closed loop", Terminals: terminals}),
	)
	for name, read := range map[string]func(*PolicyService, context.Context, CompanyID) (*Policy, error){
		"Get": (*PolicyService).Get, "Categories": (*PolicyService).Categories,
		"Merchants": (*PolicyService).Merchants, "Terminals": (*PolicyService).Terminals,
	} {
		cases = append(cases, policyFixture("Policy."+name, read).usual(exampleInvalidToken, OutcomeNotProcessed)...)
	}
	return cases
}

func policyFixture[T any](operation string, read func(*PolicyService, context.Context, CompanyID) (*T, error)) fixtureCall[*T] {
	return fixtureOf(operation, func(ctx context.Context, client *Client) (*T, error) { return read(client.Policy, ctx, 4217) })
}

func categoryCodeFixtures() []fixtureCase {
	page := fixtureOf("Policy.MerchantCategoryCodes", func(ctx context.Context, client *Client) (*Page[MerchantCategory], error) {
		return fixturePage(client.Policy.MerchantCategoryCodesPage(ctx, ListMerchantCategoryCodesParams{Paging: Paging{Page: 2, Size: 2}}))
	})
	all := fixtureOf("Policy.MerchantCategoryCodes", func(ctx context.Context, client *Client) ([]*MerchantCategory, error) {
		return Collect(client.Policy.MerchantCategoryCodes(ctx, ListMerchantCategoryCodesParams{}), 10)
	})
	return append(page.usual(exampleInvalidToken, OutcomeNotProcessed),
		page.gives("200", &Page[MerchantCategory]{
			Items: []MerchantCategory{
				{Code: "0742", Description: "Veterinary Services"}, {Code: "5411", Description: "Grocery Stores, Supermarkets"},
			},
			Number: 2, Size: 10, TotalPages: 3, TotalItems: 24,
		}),
		all.gives("200-single-page", []*MerchantCategory{
			{Code: "0742", Description: "Veterinary Services"}, {Code: "6011", Description: "Automated Cash Disbursements"},
		}),
		page.gives("204", &Page[MerchantCategory]{Number: 2, Size: 10}),
		page.throttled(),
	)
}

func restrictionFixtures() []fixtureCase {
	restrictions := policyFixture("Policy.Restrictions", (*PolicyService).Restrictions)
	return append(restrictions.usual(exampleInvalidToken, OutcomeNotProcessed),
		restrictions.gives("200", &Restrictions{
			Type: RestrictionTypeOpen,
			TerminalRules: []RestrictionTerminalRule{
				{RuleType: RestrictionRuleTypeMustBlock, Acquirer: "560001", Acceptor: "000000003210987", Terminal: "T0000042"},
				{RuleType: RestrictionRuleTypeMustAllow, Acquirer: "560002", Acceptor: "000000003210988", Terminal: "T0000043"},
			},
			CategoryRules: []RestrictionCategoryRule{
				{RuleType: RestrictionRuleTypeMustBlock, CategoryCode: "7995"}, {RuleType: RestrictionRuleTypeMustAllow, CategoryCode: "0742"},
			},
		}),
		restrictions.gives("200-closed", &Restrictions{
			Type: RestrictionTypeClose, TerminalRules: []RestrictionTerminalRule{}, CategoryRules: []RestrictionCategoryRule{},
		}),
	)
}
