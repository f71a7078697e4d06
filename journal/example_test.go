package journal_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A payment that is run twice, as after a crash, is made once.
func ExampleJournal_Transfer() {
	srv, err := prepaidtest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	payday := prepaid.DateOf(time.Now()) // once, when the order is made: a program stores it with the order
	params := prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(payday, "payroll", "emp-7"), Amount: prepaid.Cents(2550),
		SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: to,
	}
	for range 2 { // the second run finds it done
		j, err := journal.Open(filepath.Join(dir, "payments"), journal.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		_, err = j.Transfer(context.Background(), srv.Client().Accounts, from, params)
		fmt.Println(err, srv.Balance(from), srv.Movements(params.RequestID))
		_ = j.Close()
	}
	// Output:
	// <nil> 74.50 1
	// <nil> 74.50 1
}

// A run encounters a dead connection and ends with a payment of unknown outcome. The next run finds what is
// pending, and runs the list again.
func ExampleJournal_Pending() {
	srv, err := prepaidtest.Start()
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()

	config := srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop()) // the first payment's response is lost

	payday := prepaid.DateOf(time.Now()) // once, when the order is made: a program stores it with the order
	for range 2 {
		j, err := journal.Open(filepath.Join(dir, "payments"), journal.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for _, employee := range []string{"emp-7", "emp-8"} {
			_, err := j.Transfer(context.Background(), client.Accounts, from, prepaid.TransferParams{
				RequestID: prepaid.DeriveRequestID(payday, "payroll", employee), Amount: prepaid.Cents(2550),
				SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: to,
			})
			fmt.Println(employee, prepaid.OutcomeOf(err))
		}
		for e := range j.Pending() {
			fmt.Println("pending:", e.Amount, e.State)
		}
		_ = j.Close()
	}
	fmt.Println(srv.Balance(from), srv.Balance(to))
	// Output:
	// emp-7 outcome unknown
	// emp-8 applied
	// pending: 25.50 unknown
	// emp-7 applied
	// emp-8 applied
	// 49.00 51.00
}
