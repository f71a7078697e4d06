package prepaid_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The code of the package comment, section by section, as in a program.
func Example() {
	for _, section := range []func(context.Context) error{storyStart, storyMoney, storyPaging, storyErrors, storyAmounts, storyTesting} {
		if err := section(context.Background()); err != nil {
			fmt.Println(err)
		}
	}
	// Output:
	// account EA10000000000001 25.50
	// done
	// 25.50
	// no such account
	// true <nil>
	// the response of the next transfer gets lost
}

// setEnvironment sets the environment that ConfigFromEnv reads. The returned function removes it.
func setEnvironment(variables map[string]string) func() {
	for name, value := range variables {
		_ = os.Setenv(name, value)
	}
	return func() {
		for name := range variables {
			_ = os.Unsetenv(name)
		}
	}
}

func storyStart(ctx context.Context) error {
	srv := loopback(prepaidtest.Options{})
	defer srv.Close()
	test := srv.Config()
	restore := setEnvironment(map[string]string{
		"PREPAID_BASE_URL": test.BaseURL, "PREPAID_VENDOR": test.Vendor, "PREPAID_ENVIRONMENT": "test",
		"PREPAID_CLIENT_ID": test.ClientID, "PREPAID_CLIENT_SECRET": test.ClientSecret.Reveal(),
	})
	defer restore()
	srv.AddAccount(prepaidtest.SeedAccount{ID: "EA10000000000001", Balance: "25.50"})

	config, err := prepaid.ConfigFromEnv() // PREPAID_BASE_URL and similar
	if err != nil {
		return err // lists all faults
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close()
	account, err := client.Accounts.Get(ctx, "EA10000000000001", prepaid.IncludeCardholder)
	if err == nil {
		fmt.Println("account", account.ID, account.Balance)
	}
	return err
}

func storyMoney(ctx context.Context) error {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, source := srv.Client(), seed(srv, "100.00")
	params := prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.MustAmount("25.50"), DestinationAccountID: seed(srv, "0"),
		SourceReference: "invoice 7", DestinationReference: "invoice 7",
	}

	_, err := client.Accounts.Transfer(ctx, source, params)
	switch prepaid.OutcomeOf(err) {
	case prepaid.OutcomeApplied:
		fmt.Println("done")
	case prepaid.OutcomeRejected:
		fmt.Println("refused: nothing moved; fix the cause, or withdraw the payment")
	case prepaid.OutcomeNotProcessed:
		fmt.Println("nothing moved, and the request is not at fault: send the same params again once the cause is gone")
	case prepaid.OutcomeUnknown:
		fmt.Println("it may have moved: resolve")
	}
	return err
}

func storyPaging(ctx context.Context) error {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id, from := srv.Client(), seed(srv, "25.50"), time.Now().Add(-time.Hour)

	show := func() error {
		for transaction, err := range client.Accounts.Transactions(ctx, id, prepaid.ListTransactionsParams{From: from}) {
			if err != nil {
				return err
			}
			fmt.Println(transaction.Amount)
		}
		return nil
	}
	return show()
}

func storyErrors(ctx context.Context) error {
	srv := emulator(prepaidtest.Options{})
	defer srv.Close()
	client, id := srv.Client(), prepaid.AccountID("EA404")

	_, err := client.Accounts.Get(ctx, id)
	switch invalid, ok := errors.AsType[*prepaid.ValidationError](err); {
	case ok:
		fmt.Println("fix", invalid.Faults) // each a field and a rule, never the value; nothing was sent
	case errors.Is(err, prepaid.ErrNotFound):
		fmt.Println("no such account")
	}
	return nil
}

func storyAmounts(context.Context) error {
	price := prepaid.MustAmount("25.50")
	total, err := price.Mul(3) // 76.50, or ErrAmountRange: never rounded
	fmt.Println(total == prepaid.Cents(7650), err)
	return nil
}

func storyTesting(ctx context.Context) error {
	srv, err := prepaidtest.Start(prepaidtest.Options{}) // in a test, prepaidtest.NewServer(t, prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer srv.Close()
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	client := srv.Client()
	if _, err := client.Check(ctx); err != nil {
		return err
	}
	fmt.Println("the response of the next transfer gets lost")
	return nil
}
