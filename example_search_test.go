package prepaid_test

import (
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Search finds accounts by your own key. The service does not promise that a key is unique.
func ExampleAccountsService_Search() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddAccount(prepaidtest.SeedAccount{Key: "emp-7", Balance: "10.00", Status: "replaced"})
	srv.AddAccount(prepaidtest.SeedAccount{Key: "emp-7", Balance: "25.50"})
	srv.AddAccount(prepaidtest.SeedAccount{Key: "emp-8", Balance: "99.00"})

	for account, err := range client.Accounts.Search(ctx, prepaid.SearchAccountsParams{
		ProgramClientID: "acme", ClientAccountKey: "emp-7",
	}) {
		check(err) // always in the last iteration
		fmt.Println(account.ClientAccountKey, account.Status, account.Balance)
	}
	// Output:
	// emp-7 replaced 10.00
	// emp-7 active 25.50
}

// All active accounts of a program, read in pages of two with the next page prefetched.
func ExampleAccountsService_SearchCompany() {
	srv, client, ctx := service()
	defer srv.Close()
	for i, status := range []string{"active", "closed", "active", "active"} {
		srv.AddAccount(prepaidtest.SeedAccount{Balance: fmt.Sprintf("%d.10", i+1), Status: status})
	}

	var held prepaid.Amount
	count := 0
	for account, err := range client.Accounts.SearchCompany(ctx, 42, prepaid.SearchCompanyParams{
		Status: prepaid.AccountStatusActive,
		Paging: prepaid.Paging{Size: 2, Prefetch: 1},
	}) {
		if err == nil {
			held, err = held.Add(account.Balance)
		}
		check(err)
		count++
	}
	fmt.Println(count, "active accounts hold", held)
	// Output: 3 active accounts hold 8.30
}

// The response of Create has no account ID, so most callers need Issue instead. An invalid registration is refused
// before it is sent, with all faults at once.
func ExampleAccountsService_Create() {
	srv, client, ctx := service()
	defer srv.Close()

	person := &prepaid.Cardholder{FirstName: "Ada", PrimaryAddress: prepaid.Address{State: "NSW", Country: "Australia"}}
	_, err := client.Accounts.Create(ctx, prepaid.CreateAccountParams{CompanyID: 42, Cardholder: person})
	if invalid, ok := errors.AsType[*prepaid.ValidationError](err); ok {
		for _, fault := range invalid.Faults {
			fmt.Println(fault.Field, fault.Rule)
		}
	}

	person.LastName, person.PrimaryAddress.Country = "Lovelace", "AU"
	person.DateOfBirth = prepaid.Date{Year: 1990, Month: time.May, Day: 1}
	made, err := client.Accounts.Create(ctx, prepaid.CreateAccountParams{
		CompanyID: 42, Cardholder: person, InitialLoadAmount: prepaid.MustAmount("25.50"), ClientAccountKey: "emp-7",
	})
	check(err)
	fmt.Println(made.Status, made.Balance, made.ExternalAccountID != "")
	// Output:
	// registration.last_name is required
	// registration.primary_address.country must be an ISO 3166 alpha-2 code, two capital letters
	// registration.date_of_birth is required
	// pre_active 25.50 true
}

// If the response to a creation is lost, look for the account by its key: never create it again blindly.
func ExampleAccountsService_FindCreated() {
	srv, client, ctx := service()
	defer srv.Close()
	params := prepaid.CreateAccountParams{CompanyID: 42, ClientAccountKey: "emp-7", Cardholder: ada()}

	srv.Inject("POST /accounts", prepaidtest.CommitThenDrop())
	_, err := client.Accounts.Create(ctx, params)
	fmt.Println(prepaid.OutcomeOf(err))
	if prepaid.OutcomeOf(err) != prepaid.OutcomeUnknown {
		return
	}
	account, err := client.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{
		ProgramClientID: "acme", ClientAccountKey: params.ClientAccountKey,
	})
	check(err) // ErrNotSeen does not prove that no account exists
	fmt.Println("found:", account.ID != "", account.Status)
	// Output:
	// unknown
	// found: true pre_active
}
