package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Groups such as the cardholder come only when asked for.
func ExampleAccountsService_Get() {
	srv := emulator()
	defer srv.Close()
	client := srv.Client()
	srv.AddAccount(prepaidtest.SeedAccount{ID: "EA52174568995001", Balance: "100.00", Personal: &prepaidtest.Personal{
		FirstName: "Ada", LastName: "Lovelace", DateOfBirth: "1990-05-01T00:00:00Z",
		PrimaryAddress: prepaidtest.Address{State: "NSW", Country: "AU"},
	}})

	account, err := client.Accounts.Get(context.Background(), "EA52174568995001", prepaid.IncludePersonal)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.ID, account.Status, account.Balance, account.ProductType)
	fmt.Println(account.Personal.FirstName, account.Personal.DateOfBirth, account.FreeText == nil)
	// Output:
	// EA52174568995001 active 100.00 reloadable
	// Ada 1990-05-01 true
}

// An unknown account is an error to compare with.
func ExampleAccountsService_Get_notFound() {
	srv := emulator()
	defer srv.Close()

	_, err := srv.Client().Accounts.Get(context.Background(), "EA00000000000000")
	if errors.Is(err, prepaid.ErrNotFound) {
		fmt.Println("no such account")
	}
	fmt.Println(err)
	// Output:
	// no such account
	// prepaid: Accounts.Get: rejected: status 404 (account_not_found): the account does not exist
}

// Status is the small form of Get, for a look at state and balance.
func ExampleAccountsService_Status() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	srv.Adjust(string(id), "-33.30")
	srv.SetStatus(string(id), "suspected_fraud")

	account, err := client.Accounts.Status(context.Background(), id)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Status, account.Balance, account.PlasticEnabled)
	if account.Status != prepaid.AccountStatusActive {
		fmt.Println("do not pay to this card")
	}
	// Output:
	// suspected_fraud 66.70 true
	// do not pay to this card
}

// Setting the same state twice does no harm, so the client sends it again when an answer is lost, and the caller does
// not notice. The one exception is the state active.
func ExampleAccountsService_SetStatus_answerLost() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	ctx := context.Background()

	srv.Inject("PUT /accounts/{id}/status", prepaidtest.CommitThenDrop())
	fmt.Println(client.Accounts.SetStatus(ctx, id, prepaid.AccountStatusClosed), srv.Status(string(id)))

	srv.Inject("PUT /accounts/{id}/status", prepaidtest.CommitThenDrop())
	err := client.Accounts.SetStatus(ctx, id, prepaid.AccountStatusActive) // might lift a block set meanwhile: not repeated
	fmt.Println(prepaid.OutcomeOf(err))
	account, err := client.Accounts.Status(ctx, id) // so read back
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Status)
	// Output:
	// <nil> closed
	// outcome unknown
	// active
}

// Plastic must be enabled for shops, online card details and the simulator. Transfers do not ask for it.
func ExampleAccountsService_SetPlasticEnabled() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	ctx := context.Background()

	for _, enabled := range []bool{false, true} {
		if err := client.Accounts.SetPlasticEnabled(ctx, id, prepaid.SetPlasticEnabledParams{Enabled: enabled}); err != nil {
			fmt.Println(err)
			return
		}
		bought, err := client.Simulation.Transact(ctx, prepaid.SimulateParams{
			Type: prepaid.SimulatedTypePurchase, AccountID: id, Amount: prepaid.MustAmount("30.00"),
			AcquirerID: "100001", MerchantID: "QUICKMART", TerminalID: "T0000001", MerchantCategoryCode: "5411",
		})
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(enabled, bought.Success, bought.Message)
	}
	// Output:
	// false false Plastic not enabled
	// true true Approved
}

// Update replaces the registration: read it, change it, and put the whole back.
func ExampleAccountsService_Update() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "0")

	move := func(ctx context.Context, id prepaid.AccountID, city, state string) error {
		account, err := client.Accounts.Get(ctx, id, prepaid.IncludePersonal)
		if err != nil {
			return err
		}
		person := account.Personal
		person.PrimaryAddress.City, person.PrimaryAddress.State = city, state
		return client.Accounts.Update(ctx, id, prepaid.UpdateAccountParams{
			Registration: person, ClientAccountKey: &account.ClientAccountKey, DisplayName: &account.DisplayName,
			PortalIdentifier: account.PortalIdentifier,
		})
	}
	fmt.Println(move(context.Background(), id, "Melbourne", "Victoria"))
	fmt.Println(move(context.Background(), id, "Melbourne", "VIC"))
	account, err := client.Accounts.Get(context.Background(), id, prepaid.IncludePersonal)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(account.Personal.PrimaryAddress.City, account.Personal.PrimaryAddress.State)
	// Output:
	// prepaid: Accounts.Update: rejected: invalid input: registration.primary_address.state must be at most 6 characters
	// <nil>
	// Melbourne VIC
}

// A single page of the history, for a screen that shows one at a time. Credits are positive and debits negative.
func ExampleAccountsService_TransactionsPage() {
	srv := emulator()
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	for _, amount := range []string{"-1.00", "-2.00", "-3.00"} {
		srv.Adjust(string(id), amount)
	}

	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 3}}
	for params.Paging.Page = 1; ; params.Paging.Page++ {
		page, err := client.Accounts.TransactionsPage(context.Background(), id, params)
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("page %d of %d\n", page.Number, page.TotalPages)
		for _, tx := range page.Items {
			fmt.Println(tx.Type, tx.Amount, tx.RunningBalance)
		}
		if page.Last() {
			break
		}
	}
	// Output:
	// page 1 of 2
	// 2950 100.00 100.00
	// 3900 -1.00 99.00
	// 3900 -2.00 97.00
	// page 2 of 2
	// 3900 -3.00 94.00
}

// Leaving the loop ends the reading: pages behind it are never asked for.
func ExampleAccountsService_Transactions_break() {
	srv := emulator(prepaidtest.FrozenClock(), prepaidtest.StartAt(time.Date(2026, time.October, 1, 0, 0, 0, 0, time.UTC)))
	defer srv.Close()
	client, id := srv.Client(), seed(srv, "100.00")
	for range 10 {
		srv.Advance(24 * time.Hour)
		srv.Adjust(string(id), "-15.00")
	}

	params := prepaid.ListTransactionsParams{Paging: prepaid.Paging{Size: 3}}
	for tx, err := range client.Accounts.Transactions(context.Background(), id, params) {
		if err != nil {
			fmt.Println(err)
			return
		}
		if tx.RunningBalance.Sign() < 0 {
			fmt.Println("overdrawn on", prepaid.DateOf(tx.OccurredAt), "by", tx.RunningBalance.Abs())
			break
		}
	}
	pages := 0
	for _, request := range srv.Requests() {
		if request.Template == "/accounts/{id}/transactions" {
			pages++
		}
	}
	fmt.Println(pages, "of 4 pages read")
	// Output:
	// overdrawn on 2026-10-08 by 5.00
	// 3 of 4 pages read
}
