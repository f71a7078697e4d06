package prepaid

import "context"

func policyChangeFixtures() []fixtureCase {
	return concat(changeCategoryFixtures(), changeMerchantFixtures(), changeTerminalFixtures())
}

// policyChangeErrors are the errors that all three changes share.
func policyChangeErrors(change fixtureCall[struct{}]) []fixtureCase {
	return append(change.usual(exampleInvalidToken, OutcomeUnknown),
		change.refused("400", exampleInvalidFields, ErrBadRequest, OutcomeRejected),
		change.refused("403", "forbidden", ErrForbidden, OutcomeRejected),
		change.refused("404", "policy_not_found", ErrNotFound, OutcomeRejected),
	)
}

func changeCategoryFixtures() []fixtureCase {
	change := func(params ChangeCategoriesParams) fixtureCall[struct{}] {
		return fixtureDo("Policy.ChangeCategories", func(ctx context.Context, client *Client) error {
			return client.Policy.ChangeCategories(ctx, 4217, params)
		})
	}
	whole := change(ChangeCategoriesParams{Reason: "Ticket 4711", Add: []MCC{"0742", "7995"}, Remove: []MCC{"5411"}})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(ChangeCategoriesParams{RequireApproval: true, Add: []MCC{"0000"}}).gives("200-partial", struct{}{}),
		whole.throttled(),
	)
}

func changeMerchantFixtures() []fixtureCase {
	change := func(params ChangeMerchantsParams) fixtureCall[struct{}] {
		return fixtureDo("Policy.ChangeMerchants", func(ctx context.Context, client *Client) error {
			return client.Policy.ChangeMerchants(ctx, 4217, params)
		})
	}
	remove := []MerchantKey{{AcquirerID: 560002, CardAcceptorID: "000000003210988"}}
	whole := change(ChangeMerchantsParams{
		Reason: "Ticket 4712",
		Add:    []MerchantRule{{ID: 9001, AcquirerID: 560001, CardAcceptorID: "000000003210987", Description: "Corner Store"}},
		Remove: remove,
	})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(ChangeMerchantsParams{RequireApproval: true, Remove: remove}).gives("200-partial", struct{}{}),
	)
}

func changeTerminalFixtures() []fixtureCase {
	change := func(params ChangeTerminalsParams) fixtureCall[struct{}] {
		return fixtureDo("Policy.ChangeTerminals", func(ctx context.Context, client *Client) error {
			return client.Policy.ChangeTerminals(ctx, 4217, params)
		})
	}
	whole := change(ChangeTerminalsParams{
		Reason: "Ticket 4713",
		Add: []TerminalRule{{
			ID: 9101, AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042",
			CardAcceptorNameLocation: "CORNER STORE SYDNEY NSW AU", Description: "Till 1",
		}},
		Remove: []TerminalKey{{AcquirerID: 560002, CardAcceptorID: "000000003210988", TerminalID: "T0000043"}},
	})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(ChangeTerminalsParams{
			RequireApproval: true,
			Add:             []TerminalRule{{AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042"}},
		}).gives("200-partial", struct{}{}),
	)
}
