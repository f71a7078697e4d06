package journalfile_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// Two runs of a payment, as after a crash, make it once.
func ExampleJournal_Transfer() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
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
	payday := prepaid.DateOf(time.Now()) // a program makes the ID once and stores it with the order
	params := prepaid.TransferParams{
		RequestID: prepaid.DeriveRequestID(payday, "payroll", "emp-7"), Amount: prepaid.Cents(2550),
		SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: to,
	}
	for range 2 { // the second run finds it done
		j, err := journalfile.Open(filepath.Join(dir, "payments"), journalfile.Options{})
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

// A payroll gets no token for a payment. A run with the same list makes this payment, and none twice. A payment of unknown outcome is
// sent again in the same way, after a wait: see [journalfile.Journal.NotBefore].
func ExampleJournal_PayAll() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
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
	srv.Inject("POST /token", prepaidtest.Respond(500, "server_error")) // no token for the first payment

	payday := prepaid.DateOf(time.Now()) // a program makes the ID once and stores it with the order
	var list []journal.Payment
	for n, employee := range []string{"emp-7", "emp-8"} {
		list = append(list, journal.Payment{Account: from, Params: prepaid.TransferParams{
			RequestID: prepaid.DeriveRequestID(payday, "payroll", employee), Amount: prepaid.Cents(int64(2550 + n)),
			SourceReference: "PAYROLL", DestinationReference: "SALARY", DestinationAccountID: to,
		}})
	}
	for range 2 {
		j, err := journalfile.Open(filepath.Join(dir, "payments"), journalfile.Options{})
		if err != nil {
			fmt.Println(err)
			return
		}
		for e, err := range j.PayAll(context.Background(), client.Accounts, 1, slices.Values(list)) {
			fmt.Println(e.Amount, e.State, prepaid.OutcomeOf(err))
		}
		_ = j.Close()
	}
	fmt.Println(srv.Balance(from), srv.Balance(to))
	// Output:
	// 25.50 not_sent not_processed
	// 25.51 done applied
	// 25.50 done applied
	// 25.51 done applied
	// 48.99 51.01
}
