package prepaid_test

import (
	"context"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Issue creates a card and finds its account id. It can be run again after any error.
func ExampleAccountsService_Issue() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()

	params := prepaid.IssueParams{
		ProgramClientID: "acme",
		Account: prepaid.CreateAccountParams{
			CompanyID:         42,
			ClientAccountKey:  "emp-7",
			InitialLoadAmount: prepaid.MustAmount("25.50"),
			NameOnCard:        "A LOVELACE", // the service allows no space
			PlasticEnabled:    new(false),
			Registration: &prepaid.Cardholder{
				FirstName:      "Ada",
				LastName:       "Lovelace",
				DateOfBirth:    prepaid.Date{Year: 1990, Month: time.May, Day: 1},
				PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			},
		},
	}
	_, err := client.Accounts.Issue(context.Background(), params)
	fmt.Println(err)

	params.Account.NameOnCard = "A.LOVELACE"
	for range 2 {
		issued, err := client.Accounts.Issue(context.Background(), params)
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

// One page of the accounts with a key of yours, and what the service says of the rest.
func ExampleAccountsService_SearchPage() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()
	for range 5 {
		srv.AddAccount(prepaidtest.SeedAccount{Key: "emp-7", Balance: "10.00"})
	}

	page, err := client.Accounts.SearchPage(context.Background(), prepaid.SearchAccountsParams{
		ProgramClientID: "acme", ClientAccountKey: "emp-7", Paging: prepaid.Paging{Page: 3, Size: 2},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, account := range page.Items {
		fmt.Println(account.Status, account.Balance)
	}
	fmt.Printf("page %d of %d, %d accounts in all\n", page.Number, page.TotalPages, page.TotalItems)
	// Output:
	// active 10.00
	// page 3 of 3, 5 accounts in all
}

// A card that was reported lost is stopped, and keeps its money.
func ExampleAccountsService_SetStatus() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	ctx := context.Background()

	if err := client.Accounts.SetStatus(ctx, id, prepaid.AccountStatusLostOrStolen); err != nil {
		fmt.Println(err)
		return
	}
	account, err := client.Accounts.Status(ctx, id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Status, account.Balance)
	// Output: lost_or_stolen 100.00
}

// A month in the program's own time zone, with pages fetched ahead.
func ExampleAccountsService_Transactions() {
	srv := emulator(prepaidtest.FrozenClock(), prepaidtest.StartAt(time.Date(2026, 9, 30, 12, 0, 0, 0, time.UTC)))
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	for _, amount := range []string{"-1.00", "-2.00", "-3.00"} { // the first is October in Sydney, and not in London
		srv.Advance(12 * time.Hour)
		srv.Adjust(string(id), amount)
	}
	srv.Advance(30 * 24 * time.Hour)
	srv.Adjust(string(id), "-4.00") // November

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
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(tx.OccurredAt.In(sydney).Format(time.DateTime), tx.Type, tx.Amount, tx.RunningBalance)
	}
	fmt.Println("fees", fees)
	// Output:
	// 2026-10-01 10:00:00 3900 -1.00 99.00
	// 2026-10-01 22:00:00 3900 -2.00 97.00
	// 2026-10-02 10:00:00 3900 -3.00 94.00
	// fees 0.00
}

// A bounded list in one slice, where a loop would be in the way.
func ExampleCollect() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()
	for range 3 {
		seed(srv, "10.00")
	}

	accounts, err := prepaid.Collect(client.Accounts.SearchCompany(context.Background(), 42, prepaid.SearchCompanyParams{}), 1000)
	fmt.Println(len(accounts), err)
	// Output: 3 <nil>
}
