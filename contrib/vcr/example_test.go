package prepaidvcr_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	prepaidvcr "github.com/cardprograms/prepaid/contrib/vcr"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// payOut is your code: it pays if there is enough money.
func payOut(ctx context.Context, client *prepaid.Client, from, to prepaid.AccountID, amount prepaid.Amount) (string, error) {
	account, err := client.Accounts.Get(ctx, from)
	if err != nil {
		return "", err
	}
	if account.Balance.Compare(amount) < 0 {
		return "too little", nil
	}
	_, err = client.Accounts.Transfer(ctx, account.ID, prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: amount, DestinationAccountID: to,
		SourceReference: "payout", DestinationReference: "payout",
	})
	return "paid", err
}

// The cassette of the examples: PREPAID_VCR=record creates it again, here with an emulator as the test
// environment.
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
	for _, want := range []string{"paid", "too little"} {
		got, err := payOut(t.Context(), client, from, to, prepaid.MustAmount("60.00"))
		require.NoError(t, err)
		require.Equal(t, want, got)
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

// A check finds values that a recording would have scrubbed, by line and place.
func ExampleCheck() {
	cassette, err := os.ReadFile("testdata/payout.yaml")
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(prepaidvcr.Check(bytes.NewReader(bytes.Replace(cassette, []byte("X990000000588"), []byte("customer 4711"), 1))))
	// Output:
	// prepaidvcr: 1 unscrubbed: line 53: response body.external_account_id
}
