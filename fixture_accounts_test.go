package prepaid

import (
	"context"
	"time"
)

func accountFixtures() []fixtureCase {
	return concat(searchFixtures(), getFixtures(), statusFixtures())
}

func searchFixtures() []fixtureCase {
	search := fixtureOf("Accounts.Search", func(ctx context.Context, client *Client) (*Page[Account], error) {
		return fixturePage(client.Accounts.SearchPage(ctx, SearchAccountsParams{
			ProgramClientID: "acme", ClientAccountKey: "emp-7~ !",
			Include: []Include{IncludePersonal, IncludeDirectEntry, IncludeFreeText, IncludeBPay},
			Paging:  Paging{Page: 2, Size: 50},
		}))
	})
	all := fixtureOf("Accounts.Search", func(ctx context.Context, client *Client) ([]*Account, error) {
		return Collect(client.Accounts.Search(ctx, SearchAccountsParams{ProgramClientID: "acme", ClientAccountKey: "emp-7~ !"}), 10)
	})
	return append(search.usual(exampleInvalidToken, OutcomeNotProcessed),
		search.gives("200", &Page[Account]{
			Items: []Account{*fixtureAccount(withOptional, withGroups)}, Number: 2, Size: 50, TotalPages: 2, TotalItems: 51,
		}),
		all.gives("200-required-only", []*Account{fixtureAccount(func(a *Account) {
			a.Balance = MustAmount("-0.50")
			a.ProductType, a.Status, a.AccountType = ProductTypeLoyalty, AccountStatusPreActive, AccountTypeLedger
			a.PlasticEnabled = false
			a.PlasticExpiry = fixtureTime(2029, time.November, 30, 23, 59, 59).Add(125 * time.Millisecond)
			a.AccountExpiry = fixtureTime(2029, time.November, 30, 23, 59, 59)
		})}),
		search.gives("204", &Page[Account]{Number: 2, Size: 50}),
		search.throttled(),
	)
}

func getFixtures() []fixtureCase {
	get := func(id AccountID, include ...Include) fixtureCall[*Account] {
		return fixtureOf("Accounts.Get", func(ctx context.Context, client *Client) (*Account, error) {
			return client.Accounts.Get(ctx, id, include...)
		})
	}
	every := get(fixtureID, IncludePersonal, IncludeDirectEntry, IncludeFreeText, IncludeBPay,
		IncludeTokenInfo, IncludeCorrespondingAccountID, IncludeCardholderType)
	return append(every.usual(exampleInvalidToken, OutcomeNotProcessed),
		every.gives("200", fixtureAccount(withOptional, withGroups, func(a *Account) {
			a.MDESConfigID, a.CorrespondingAccountID, a.CardholderType = "MDES-7", "EA-700100100", CardholderTypePrimary
		})),
		get("EA 7%é+?#").gives("200-required-only", fixtureAccount(func(a *Account) { a.ID = "EA 7%é+?#" })),
		get(fixtureID, IncludeCardholderType).gives("200-unknown-values", fixtureAccount(func(a *Account) {
			a.ProductType, a.Status, a.AccountType, a.CardholderType = "virtual", "hibernating", "escrow", 3
		})),
		get(fixtureID, IncludeCardholderType).gives("200-numbers-as-strings", fixtureAccount(func(a *Account) {
			a.CardholderType = CardholderTypeSecondary
		})),
		get(fixtureID).gives("200-nulls", fixtureAccount()),
		every.throttled(),
		every.unknownAccount(),
	)
}

func statusFixtures() []fixtureCase {
	status := fixtureOf("Accounts.Status", func(ctx context.Context, client *Client) (*AccountSummary, error) {
		return client.Accounts.Status(ctx, fixtureID)
	})
	return append(status.usual(exampleInvalidToken, OutcomeNotProcessed),
		status.gives("200", fixtureSummary(func(a *AccountSummary) {
			a.Status, a.PlasticEnabled = AccountStatusInactivePINTriesExceeded, false
		})),
		status.unknownAccount(),
	)
}

// fixtureSummary is the reduced account.
func fixtureSummary(edit func(*AccountSummary)) *AccountSummary {
	a := &AccountSummary{
		ExternalAccountID: "ext-90031", CompanyID: 4217, Balance: MustAmount("150.25"), CardNumber: "516353******9917",
		PlasticExpiry: fixtureTime(2029, time.November, 30, 23, 59, 59),
		ProductType:   ProductTypeReloadable, Status: AccountStatusActive, PlasticEnabled: true,
	}
	edit(a)
	return a
}
