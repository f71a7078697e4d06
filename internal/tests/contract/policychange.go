package contract

import "github.com/cardprograms/prepaid"

func policyChangeFixtures() []Case {
	return concat(changeCategoryFixtures(), changeMerchantFixtures(), changeTerminalFixtures())
}

// policyChangeErrors returns the error cases that all three changes share.
func policyChangeErrors(change fixtureCall[struct{}]) []Case {
	return append(change.usual(exampleInvalidToken, prepaid.OutcomeUnknown),
		change.refused("400", exampleInvalidFields, prepaid.ErrBadRequest, prepaid.OutcomeRejected),
		change.refused("403", "forbidden", prepaid.ErrForbidden, prepaid.OutcomeRejected),
		change.refused("404", "policy_not_found", prepaid.ErrNotFound, prepaid.OutcomeRejected),
	)
}

func changeCategoryFixtures() []Case {
	change := func(params prepaid.ChangeRulesParams[prepaid.MCC]) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Policy.ChangeCategories", prepaid.CompanyID(4217), params)
	}
	whole := change(prepaid.ChangeRulesParams[prepaid.MCC]{Reason: "Ticket 4711", Add: []prepaid.MCC{"0742", "7995"}, Remove: []prepaid.MCC{"5411"}})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(prepaid.ChangeRulesParams[prepaid.MCC]{RequireApproval: true, Add: []prepaid.MCC{"0000"}}).gives("200-partial", struct{}{}),
		whole.throttled(),
	)
}

func changeMerchantFixtures() []Case {
	change := func(params prepaid.ChangeRulesParams[prepaid.MerchantRule]) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Policy.ChangeMerchants", prepaid.CompanyID(4217), params)
	}
	remove := []prepaid.MerchantRule{{AcquirerID: 560002, CardAcceptorID: "000000003210988"}}
	whole := change(prepaid.ChangeRulesParams[prepaid.MerchantRule]{
		Reason: "Ticket 4712",
		Add:    []prepaid.MerchantRule{{ID: 9001, AcquirerID: 560001, CardAcceptorID: "000000003210987", Description: "Corner Store"}},
		Remove: remove,
	})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(prepaid.ChangeRulesParams[prepaid.MerchantRule]{RequireApproval: true, Remove: remove}).gives("200-partial", struct{}{}),
	)
}

func changeTerminalFixtures() []Case {
	change := func(params prepaid.ChangeRulesParams[prepaid.TerminalRule]) fixtureCall[struct{}] {
		return fixtureWith[struct{}]("Policy.ChangeTerminals", prepaid.CompanyID(4217), params)
	}
	whole := change(prepaid.ChangeRulesParams[prepaid.TerminalRule]{
		Reason: "Ticket 4713",
		Add: []prepaid.TerminalRule{{
			ID: 9101, AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042",
			CardAcceptorNameLocation: "CORNER STORE SYDNEY NSW AU", Description: "Till 1",
		}},
		Remove: []prepaid.TerminalRule{{AcquirerID: 560002, CardAcceptorID: "000000003210988", TerminalID: "T0000043"}},
	})
	return append(policyChangeErrors(whole),
		whole.gives("200", struct{}{}),
		change(prepaid.ChangeRulesParams[prepaid.TerminalRule]{
			RequireApproval: true,
			Add:             []prepaid.TerminalRule{{AcquirerID: 560001, CardAcceptorID: "000000003210987", TerminalID: "T0000042"}},
		}).gives("200-partial", struct{}{}),
	)
}
