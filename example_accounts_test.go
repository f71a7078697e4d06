package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Groups such as the cardholder are returned only on request.
func ExampleAccountsService_Get() {
	srv, client, ctx := service()
	defer srv.Close()
	srv.AddAccount(prepaidtest.SeedAccount{ID: "EA52174568995001", Balance: "100.00", Cardholder: &prepaidtest.Cardholder{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: "1990-05-01T00:00:00Z",
		PrimaryAddress: prepaidtest.Address{State: "NSW", Country: "AU"},
	}})

	account, err := client.Accounts.Get(ctx, "EA52174568995001", prepaid.IncludeCardholder)
	check(err)
	fmt.Println(account.ID, account.Status, account.Balance, account.ProductType)
	fmt.Println(account.Cardholder.FirstName, account.Cardholder.DateOfBirth, account.FreeText == nil)
	// Output:
	// EA52174568995001 active 100.00 reloadable
	// Ada 1990-05-01 true
}

// Setting the same state twice does no harm, so the client repeats it if a response is lost. The only exceptions are
// the states active and pre_active.
func ExampleAccountsService_SetStatus() {
	srv, client, ctx := service()
	defer srv.Close()
	id := seed(srv, "100.00")

	srv.Inject("PUT /accounts/{id}/status", prepaidtest.CommitThenDrop())
	fmt.Println(client.Accounts.SetStatus(ctx, id, prepaid.SetStatusParams{Status: prepaid.AccountStatusClosed}), srv.Status(id))

	srv.Inject("PUT /accounts/{id}/status", prepaidtest.CommitThenDrop())
	err := client.Accounts.SetStatus(ctx, id, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}) // could lift a newer block: not repeated
	fmt.Println(prepaid.OutcomeOf(err))
	account, err := client.Accounts.Summary(ctx, id) // read it back instead
	check(err)
	fmt.Println(account.Status)
	// Output:
	// <nil> closed
	// unknown
	// active
}

// Update replaces the registration: read it, change it, and send all of it back.
func ExampleAccountsService_Update() {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")

	move := func(ctx context.Context, id prepaid.AccountID, city, state string) error {
		account, err := client.Accounts.Get(ctx, id, prepaid.IncludeCardholder)
		if err != nil {
			return err
		}
		person := account.Cardholder
		person.PrimaryAddress.City, person.PrimaryAddress.State = city, state
		return client.Accounts.Update(ctx, id, prepaid.UpdateAccountParams{
			Cardholder: person, ClientAccountKey: &account.ClientAccountKey, DisplayName: &account.DisplayName,
			PortalIdentifier: account.PortalIdentifier,
		})
	}
	fmt.Println(move(context.Background(), id, "Melbourne", "Victoria"))
	fmt.Println(move(context.Background(), id, "Melbourne", "VIC"))
	account, err := client.Accounts.Get(context.Background(), id, prepaid.IncludeCardholder)
	check(err)
	fmt.Println(account.Cardholder.PrimaryAddress.City, account.Cardholder.PrimaryAddress.State)
	// Output:
	// prepaid: Accounts.Update: rejected: invalid input: registration.primary_address.state must be at most 6 characters
	// <nil>
	// Melbourne VIC
}

// Issue creates a card and returns its account ID. It can be run again after any error.
func ExampleAccountsService_Issue() {
	srv, client, ctx := service()
	defer srv.Close()

	params := prepaid.IssueParams{
		ProgramClientID: "acme",
		Account: prepaid.CreateAccountParams{
			CompanyID:         42,
			ClientAccountKey:  "emp-7",
			InitialLoadAmount: prepaid.MustAmount("25.50"),
			NameOnCard:        "A LOVELACE", // no spaces
			PlasticEnabled:    new(false),
			Cardholder: &prepaid.Cardholder{
				FirstName:      "Ada",
				LastName:       "Lovelace",
				DateOfBirth:    prepaid.Date{Year: 1990, Month: time.May, Day: 1},
				PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			},
		},
	}
	_, err := client.Accounts.Issue(ctx, params)
	fmt.Println(err)

	params.Account.NameOnCard = "A.LOVELACE"
	for range 2 {
		issued, err := client.Accounts.Issue(ctx, params)
		if err != nil {
			fmt.Println(err, prepaid.OutcomeOf(err))
			return
		}
		fmt.Println(issued.Account.ID != "", issued.Account.Status, issued.Account.Balance, issued.Created)
	}
	// Output:
	// prepaid: Accounts.Issue: rejected: invalid input: name_on_card must be 2 to 19 characters of 0-9, A-Z, hyphen, slash and full stop (no space)
	// true pre_active 25.50 true
	// true pre_active 25.50 false
}

// A month in the program's own time zone, with prefetched pages.
func ExampleAccountsService_Transactions() {
	srv := emulator(prepaidtest.Options{FrozenClock: true, StartAt: time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC)})
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	for _, amount := range []string{"-1.00", "-2.00", "-3.00"} { // the first is October in Sydney, and not in London
		srv.Advance(12 * time.Hour)
		srv.Adjust(id, amount)
	}
	srv.Advance(30 * 24 * time.Hour)
	srv.Adjust(id, "-4.00") // November

	sydney := time.FixedZone("AEST", 10*60*60)
	from := time.Date(2026, time.October, 1, 0, 0, 0, 0, sydney)
	var fees prepaid.Amount
	for tx, err := range client.Accounts.Transactions(context.Background(), id, prepaid.ListTransactionsParams{
		From:   from,
		Before: from.AddDate(0, 1, 0), // exclusive: no second is lost or counted twice
		Paging: prepaid.Paging{Size: 2, Prefetch: 4},
	}) {
		if err == nil {
			fees, err = fees.Add(tx.FeeAmount)
		}
		check(err)
		fmt.Println(tx.OccurredAt.In(sydney).Format(time.DateTime), tx.Type, tx.Amount, tx.RunningBalance)
	}
	fmt.Println("fees", fees)
	// Output:
	// 2026-10-02 10:00:00 3900 -3.00 94.00
	// 2026-10-01 22:00:00 3900 -2.00 97.00
	// 2026-10-01 10:00:00 3900 -1.00 99.00
	// fees 0.00
}

// A list of limited length in one slice, instead of a loop. A filter that matches too much does not fill the memory.
func ExampleCollect() {
	srv, client, ctx := service()
	defer srv.Close()
	for range 3 {
		seed(srv, "10.00")
	}

	for _, limit := range []int{1000, 2} {
		accounts, err := prepaid.Collect(client.Accounts.SearchCompany(ctx, 42, prepaid.SearchCompanyParams{}), limit)
		fmt.Println(len(accounts), errors.Is(err, prepaid.ErrTooMany))
	}
	// Output:
	// 3 false
	// 2 true
}

// Unless the account was created for certain, Issue is run again after an error, with Again: it then looks for the account for
// up to VisibleWithin before it creates anything.
func ExampleIssueParams_again() {
	srv, client, ctx := service()
	defer srv.Close()
	issue := func(params prepaid.IssueParams) (*prepaid.IssueResult, error) {
		params.VisibleWithin = time.Second // keep the default of 30 s for the real service
		return client.Accounts.Issue(ctx, params)
	}
	account := prepaid.CreateAccountParams{CompanyID: 42, ClientAccountKey: "emp-7", Cardholder: ada()}

	srv.Inject("POST /accounts", prepaidtest.CommitThenDrop())
	srv.Inject("GET /accounts", prepaidtest.Fault{}, prepaidtest.Respond(400, "invalid_request")) // the second search fails
	issued, err := issue(prepaid.IssueParams{Account: account, ProgramClientID: "acme"})
	if err != nil && prepaid.OutcomeOf(err) != prepaid.OutcomeApplied { // a second account is worse than a wait of half a minute
		issued, err = issue(prepaid.IssueParams{Account: account, ProgramClientID: "acme", Again: true})
	}
	check(err)
	fmt.Println(issued.Account.ID != "", issued.Created, len(srv.AccountIDs()))
	// Output: true false 1
}
