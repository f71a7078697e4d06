package prepaidvcr_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The cassette of the examples: PREPAID_VCR=record creates it again, here with an emulator as the test environment.
func TestPayOut(t *testing.T) {
	t.Parallel()
	recorder := prepaidvcr.Start(t, "testdata/payout", prepaidvcr.Options{})
	config, from, to := prepaid.Config{}, prepaid.AccountID("any"), prepaid.AccountID("other")
	if recorder.Recording() {
		srv := prepaidtest.NewServer(t, prepaidtest.Options{})
		config, from, to = srv.Config(), account(srv, "100.00"), account(srv, "")
	}
	client, err := prepaid.NewClient(recorder.Config(config))
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, client.Close()) })
	for _, balance := range []string{"100.00", "40.00"} {
		account, err := client.Accounts.Get(t.Context(), from)
		require.NoError(t, err)
		require.Equal(t, balance, account.Balance.String())
		if balance == "100.00" {
			_, err = client.Accounts.Transfer(t.Context(), from, prepaid.TransferParams{
				RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("60.00"), DestinationAccountID: to,
				SourceReference: "payout", DestinationReference: "payout",
			})
			require.NoError(t, err)
		}
	}
}

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
	fmt.Println(err)
	missing, _ := errors.AsType[*prepaidvcr.UnrecordedError](err)
	fmt.Println(missing.Differing)
	fmt.Println(recorder.Stop())
	// Output:
	// of-this-test 100.00 active <nil>
	// prepaid: Accounts.Transfer: not processed: not sent (connect): prepaidvcr: Accounts.Transfer is not in the cassette (1 recorded, 0 used): the nearest differs in body.amount
	// [body.amount]
	// prepaidvcr: recorded and not requested: Accounts.Transfer, Accounts.Get
}
