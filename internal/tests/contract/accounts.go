package contract

import (
	"context"
	"time"

	"github.com/cardprograms/prepaid"
)

func accountFixtures() []Case {
	return concat(searchFixtures(), getFixtures(), statusFixtures())
}

func searchFixtures() []Case {
	search := fixtureOf("Accounts.Search", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Account], error) {
		return fixturePage(client.Accounts.SearchPage(ctx, prepaid.SearchAccountsParams{
			ProgramClientID: "acme", ClientAccountKey: "emp-7~ !",
			Include: []prepaid.Include{prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay},
			Paging:  prepaid.Paging{Page: 2, Size: 50},
		}))
	})
	all := fixtureOf("Accounts.Search", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.Account, error) {
		return prepaid.Collect(client.Accounts.Search(ctx, prepaid.SearchAccountsParams{ProgramClientID: "acme", ClientAccountKey: "emp-7~ !"}), 10)
	})
	return append(search.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		search.gives("200", &prepaid.Page[prepaid.Account]{
			Items: []prepaid.Account{*fixtureAccount(withOptional, withGroups)}, Number: 2, Size: 50, TotalPages: 2, TotalItems: 51,
		}),
		all.gives("200-required-only", []*prepaid.Account{fixtureAccount(func(a *prepaid.Account) {
			a.Balance = prepaid.MustAmount("-0.50")
			a.ProductType, a.Status, a.AccountType = prepaid.ProductTypeLoyalty, prepaid.AccountStatusPreActive, prepaid.AccountTypeLedger
			a.PlasticEnabled = false
			a.PlasticExpiry = fixtureTime(2029, time.November, 30, 23, 59, 59).Add(125 * time.Millisecond)
			a.AccountExpiry = fixtureTime(2029, time.November, 30, 23, 59, 59)
		})}),
		search.gives("204", &prepaid.Page[prepaid.Account]{Number: 2, Size: 50}),
		search.throttled(),
	)
}

func getFixtures() []Case {
	get := func(id prepaid.AccountID, include ...prepaid.Include) fixtureCall[*prepaid.Account] {
		return fixtureOf("Accounts.Get", func(ctx context.Context, client *prepaid.Client) (*prepaid.Account, error) {
			return client.Accounts.Get(ctx, id, include...)
		})
	}
	every := get(fixtureID, prepaid.IncludeCardholder, prepaid.IncludeDirectEntry, prepaid.IncludeFreeText, prepaid.IncludeBPay,
		prepaid.IncludeTokenInfo, prepaid.IncludeCorrespondingAccountID, prepaid.IncludeCardholderType)
	return append(every.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		every.gives("200", fixtureAccount(withOptional, withGroups, withSingle)),
		get("EA 7%é+?#").gives("200-required-only", fixtureAccount(func(a *prepaid.Account) { a.ID = "EA 7%é+?#" })),
		get(fixtureID, prepaid.IncludeCardholderType).gives("200-unknown-values", fixtureAccount(func(a *prepaid.Account) {
			a.ProductType, a.Status, a.AccountType, a.CardholderType = "virtual", "hibernating", "escrow", 3
		})),
		get(fixtureID, prepaid.IncludeCardholderType).gives("200-numbers-as-strings", fixtureAccount(func(a *prepaid.Account) {
			a.CardholderType = prepaid.CardholderTypeSecondary
		})),
		get(fixtureID).gives("200-nulls", fixtureAccount()),
		every.throttled(),
		every.unknownAccount(),
	)
}

func statusFixtures() []Case {
	status := fixtureWith[*prepaid.AccountSummary]("Accounts.Summary", fixtureID)
	return append(status.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		status.gives("200", fixtureSummary(func(a *prepaid.AccountSummary) {
			a.Status, a.PlasticEnabled = prepaid.AccountStatusInactivePINTriesExceeded, false
		})),
		status.unknownAccount(),
	)
}

// fixtureSummary returns an account in its reduced form, changed by edit.
func fixtureSummary(edit func(*prepaid.AccountSummary)) *prepaid.AccountSummary {
	a := &prepaid.AccountSummary{
		ExternalAccountID: "ext-90031", CompanyID: 4217, Balance: prepaid.MustAmount("150.25"), CardNumber: "516353******9917",
		PlasticExpiry: fixtureTime(2029, time.November, 30, 23, 59, 59),
		ProductType:   prepaid.ProductTypeReloadable, Status: prepaid.AccountStatusActive, PlasticEnabled: true,
	}
	edit(a)
	return a
}
