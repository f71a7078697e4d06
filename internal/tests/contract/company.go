package contract

import (
	"context"
	"fmt"

	"github.com/cardprograms/prepaid"
)

func companyFixtures() []Case {
	search := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Account], error) {
		return fixturePage(client.Accounts.SearchCompanyPage(ctx, 4217, prepaid.SearchCompanyParams{
			ProgramClientID: "acme", ProgramID: "cards-2026", Status: prepaid.AccountStatusLostOrStolen,
			FirstName: "Canary-Mira", LastName: "Canary-O’Testname", Mobile: "+61491570156",
			Include: []prepaid.Include{prepaid.IncludeCardholder}, Paging: prepaid.Paging{Page: 3, Size: 25},
		}))
	})
	first := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *prepaid.Client) (*prepaid.Page[prepaid.Account], error) {
		return fixturePage(client.Accounts.SearchCompanyPage(ctx, 4217, prepaid.SearchCompanyParams{}))
	})
	all := fixtureOf("Accounts.SearchCompany", func(ctx context.Context, client *prepaid.Client) ([]*prepaid.Account, error) {
		return prepaid.Collect(client.Accounts.SearchCompany(ctx, 4217, prepaid.SearchCompanyParams{}), 20)
	})
	lost := fixtureAccount(withOptional, func(a *prepaid.Account) {
		a.Status, a.Cardholder = prepaid.AccountStatusLostOrStolen, fixtureCardholder()
	})
	var each []*prepaid.Account
	for i, status := range append(fixtureStatuses(), "hibernating") {
		each = append(each, fixtureAccount(func(a *prepaid.Account) {
			a.ID, a.Status = prepaid.AccountID(fmt.Sprintf("EA-7001003%02d", i)), status
		}))
	}
	return append(search.usual(exampleInvalidToken, prepaid.OutcomeNotProcessed),
		search.gives("200", &prepaid.Page[prepaid.Account]{Items: []prepaid.Account{*lost}, Number: 3}),
		first.gives("200-object", &prepaid.Page[prepaid.Account]{Items: []prepaid.Account{*fixtureAccount()}, Number: 1}),
		all.gives("200-every-status", each),
		search.gives("204", &prepaid.Page[prepaid.Account]{Number: 3}),
	)
}
