package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// errCreated is final: the card exists, and only looking for it helps. Record it with the order.
var errCreated = errors.New("created and not found: check the client_id, and look with FindCreated")

// issueAndLoad issues a card, activates it, loads it from a float account, and lists its transactions. The day is that
// of the order, whenever and however often it runs.
func issueAndLoad(ctx context.Context, client *prepaid.Client, float prepaid.AccountID, day prepaid.Date, again bool) error {
	issued, err := client.Accounts.Issue(ctx, prepaid.IssueParams{
		ProgramClientID: "acme", // client_id of the program; ask the operator, as for the company's ID
		Account: prepaid.CreateAccountParams{
			CompanyID:        42,
			ClientAccountKey: "emp-7", // your own, unique for each card, to find it by
			Cardholder: &prepaid.Cardholder{
				FirstName: "Ada", LastName: "Lovelace",
				DateOfBirth:    prepaid.Date{Year: 1990, Month: time.May, Day: 1},
				PrimaryAddress: prepaid.Address{State: "NSW", Country: "AU"},
			},
		},
		Again: again, // after an error: search longer before creating anything
	})
	if err != nil && prepaid.OutcomeOf(err) == prepaid.OutcomeApplied { // created, not found yet: never issue it again
		issued = &prepaid.IssueResult{Created: true}
		issued.Account, err = client.Accounts.FindCreated(ctx, prepaid.FindCreatedParams{
			ProgramClientID: "acme", ClientAccountKey: "emp-7", CompanyID: 42, VisibleWithin: 10 * time.Minute,
		})
		if err != nil {
			return fmt.Errorf("%w: %w", errCreated, err)
		}
	}
	if err != nil {
		return err // nothing was created, or it is unknown
	}
	card := issued.Account.ID
	if issued.Account.Status == prepaid.AccountStatusPreActive { // a card that was blocked in the meantime stays blocked
		if err := client.Accounts.SetStatus(ctx, card, prepaid.SetStatusParams{Status: prepaid.AccountStatusActive}); err != nil {
			return err
		}
	}
	_, err = client.Accounts.Transfer(ctx, float, prepaid.TransferParams{
		// The day is stored with the order, never time.Now(): the ID is the same when run again, even after midnight.
		RequestID: prepaid.DeriveRequestID(day, "first load", "emp-7"),
		Amount:    prepaid.MustAmount("25.50"), DestinationAccountID: card, Type: prepaid.TransferTypeLoad,
		SourceReference: "first load", DestinationReference: "first load",
	})
	if err != nil {
		return err // OutcomeOf reports whether to send it again
	}
	for transaction, err := range client.Accounts.Transactions(ctx, card, prepaid.ListTransactionsParams{}) {
		if err != nil {
			return err
		}
		fmt.Println(transaction.Type, transaction.Amount, transaction.RunningBalance, transaction.Reference)
	}
	return nil
}

// The main job from end to end. If it runs twice, it issues one card and loads it once.
func Example_card() {
	srv := emulator(prepaidtest.Options{}) // with company 42, whose client_id is acme
	defer srv.Close()
	float := srv.AddAccount(prepaidtest.SeedAccount{Balance: "1000.00"})

	day := prepaid.DateOf(time.Now()) // once per order: a program stores it with the order
	for _, again := range []bool{false, true} {
		if err := issueAndLoad(context.Background(), srv.Client(), float, day, again); err != nil {
			fmt.Println(prepaid.OutcomeOf(err), err)
		}
	}
	// Output:
	// 2950 25.50 25.50 first load
	// 2950 25.50 25.50 first load
}
