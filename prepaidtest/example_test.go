package prepaidtest_test

import (
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// The money moves and the response is lost: for the caller, the outcome is unknown. In a test, NewServer needs no Close.
func ExampleServer_Inject() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())

	config := srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	key := prepaid.NewRequestID()
	_, err = client.Accounts.Transfer(context.Background(), from, prepaid.TransferParams{
		RequestID: key, Amount: prepaid.Cents(2550), DestinationAccountID: to, SourceReference: "a", DestinationReference: "b",
	})
	fmt.Println(prepaid.OutcomeOf(err), srv.Movements(key), srv.Balance(from))
	for _, request := range srv.Requests()[1:] {
		fmt.Println(request.Method, request.Template, request.Status)
	}
	// Output:
	// unknown 1 74.50
	// POST /accounts/{id}/transfer 0
}

// A document adds companies and accounts; an invalid one changes nothing.
func ExampleServer_Load() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	fmt.Println(srv.Load(strings.NewReader(`{"companies": [{"id": 7, "client_id": "globex"}],
		"accounts": [{"account_id": "emp-1", "company_id": 7, "balance": 25.50}]}`)))
	fmt.Println(srv.Balance("emp-1"))
	fmt.Println(srv.Load(strings.NewReader(`{"accounts": [{"status": "asleep", "is_plastic_enabled": "no"}]}`)) != nil, len(srv.AccountIDs()))
	// Output:
	// <nil>
	// 25.50
	// true 1
}

// The document that uses every member, from its file.
func ExampleServer_Load_file() {
	server, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer server.Close()

	load := func() error {
		file, err := os.Open("testdata/seed.json")
		if err != nil {
			return err
		}
		defer file.Close()
		return server.Load(file)
	}
	fmt.Println(load(), len(server.AccountIDs()) > 0)
	// Output: <nil> true
}
