package prepaidvcr_test

import (
	"context"
	"errors"
	"fmt"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
)

// A cassette of two calls replays without a network, shows this test's values in place of the recorded ones, and reports
// which values of another call differ from the recording.
func ExampleNew() {
	recorder, err := prepaidvcr.New("testdata/payout", prepaidvcr.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	client, err := prepaid.NewClient(recorder.Config(prepaid.Config{}))
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = client.Close() }()

	account, err := client.Accounts.Get(context.Background(), "of-this-test")
	fmt.Println(account.ID, account.Balance, account.Status, err)

	_, err = client.Accounts.Transfer(context.Background(), account.ID, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("70.00"), DestinationAccountID: "another",
		SourceReference: "payout", DestinationReference: "payout",
	})
	fmt.Println(prepaid.OutcomeOf(err))
	missing, _ := errors.AsType[*prepaidvcr.UnrecordedError](err)
	fmt.Println(missing)
	fmt.Println(missing.Differing)
	fmt.Println(recorder.Stop())
	// Output:
	// of-this-test 100.00 active <nil>
	// not_processed
	// prepaidvcr: Accounts.Transfer is not in the cassette (1 recorded, 0 used): the nearest differs in body.amount
	// [body.amount]
	// prepaidvcr: recorded and not requested: Accounts.Transfer, Accounts.Get
}
