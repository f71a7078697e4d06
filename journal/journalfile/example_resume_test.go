package journalfile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A payroll gets no token for a payment, and ends. Another process finishes with the file and the key: it does not need the list.
func ExampleJournal_Resume() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
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

	seal, err := journal.NewAEAD(bytes.Repeat([]byte{7}, 32)) // a real key is random, in a vault
	if err != nil {
		fmt.Println(err)
		return
	}
	options := journalfile.Options{Seal: seal, DigestKey: prepaid.NewSecret("a key for digests")}
	j, err := journalfile.Open(filepath.Join(dir, "payments"), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	srv.Inject("POST /token", prepaidtest.Respond(500, "server_error"))
	_, err = j.DirectEntryOut(context.Background(), client.Accounts, from, prepaid.DirectEntryOutParams{
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now()), "payroll", "emp-7"), Amount: prepaid.Cents(2550),
		SourceReference: "PAYROLL", DestinationReference: "SALARY", BSB: "062000",
		Destination: prepaid.BankAccount{BSB: "062000", AccountNumber: "12345678", AccountName: "J Citizen"},
	})
	fmt.Println(prepaid.OutcomeOf(err), srv.Balance(from))
	_ = j.Close()

	j, err = journalfile.Open(filepath.Join(dir, "payments"), options)
	if err != nil {
		fmt.Println(err)
		return
	}
	for e, err := range j.Resume(context.Background(), client.Accounts, 16) {
		switch {
		case err == nil:
			fmt.Println("paid:", e.Amount, srv.Balance(from))
		case errors.Is(err, journal.ErrNoParams), e.NeedsPerson(time.Now()) != nil:
			fmt.Println("for a person:", e.RequestID, err)
		default:
			fmt.Println("run again:", e.RequestID, err)
		}
	}
	_ = j.Close()
	// Output:
	// not_processed 100.00
	// paid: 25.50 74.50
}
