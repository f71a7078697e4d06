package prepaid

import (
	"context"
	"fmt"
)

func companyFixtures() []fixtureCase {
	search := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *Client) (*Page[Account], error) {
		return fixturePage(client.Accounts.SearchCompanyPage(ctx, 4217, SearchCompanyParams{
			ProgramClientID: "acme", ProgramID: "cards-2026", Status: AccountStatusLostOrStolen,
			FirstName: "Canary-Mira", LastName: "Canary-O’Testname", Mobile: "+61491570156",
			Include: []Include{IncludePersonal}, Paging: Paging{Page: 3, Size: 25},
		}))
	})
	first := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *Client) (*Page[Account], error) {
		return fixturePage(client.Accounts.SearchCompanyPage(ctx, 4217, SearchCompanyParams{}))
	})
	all := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *Client) ([]*Account, error) {
		return Collect(client.Accounts.SearchCompany(ctx, 4217, SearchCompanyParams{}), 20)
	})
	lost := fixtureAccount(withOptional, func(a *Account) {
		a.Status, a.Personal = AccountStatusLostOrStolen, fixtureCardholder()
	})
	var each []*Account
	for i, status := range []AccountStatus{
		AccountStatusActive, AccountStatusPreActive, AccountStatusInactive, AccountStatusDeactivated,
		AccountStatusLostOrStolen, AccountStatusExpired, AccountStatusSuspectedFraud, AccountStatusClosed,
		AccountStatusInactivePINTriesExceeded, AccountStatusVendorInactive, AccountStatusReplaced, "hibernating",
	} {
		each = append(each, fixtureAccount(func(a *Account) {
			a.ID, a.Status = AccountID(fmt.Sprintf("EA-7001003%02d", i)), status
		}))
	}
	return append(search.usual(exampleInvalidToken, OutcomeNotProcessed),
		search.gives("200", &Page[Account]{Items: []Account{*lost}, Number: 3}),
		first.gives("200-object", &Page[Account]{Items: []Account{*fixtureAccount()}, Number: 1}),
		all.gives("200-every-status", each),
		search.gives("204", &Page[Account]{Number: 3}),
	)
}
