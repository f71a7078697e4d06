package journalfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// A payment of unknown outcome that is too old to be sent again is searched for, and a person records the result
// in the journal.
func ExampleJournal_Resolve() {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx, config := context.Background(), srv.Config()
	config.Retry.MaxAttempts = 1
	client, err := prepaid.NewClient(config)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer client.Close()
	from := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"})
	to := srv.AddAccount(prepaidtest.SeedAccount{})
	dir, err := os.MkdirTemp("", "journal")
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = os.RemoveAll(dir) }()
	j, err := journalfile.Open(filepath.Join(dir, "payments"), journalfile.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer func() { _ = j.Close() }()

	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.Truncate()) // it is executed, but the response is cut
	params := prepaid.TransferParams{
		RequestID: prepaid.NewRequestID(), Amount: prepaid.Cents(2550), DestinationAccountID: to,
		SourceReference: "INVOICE 7", DestinationReference: "INVOICE 7",
	}
	_, err = j.Transfer(ctx, client.Accounts, from, params)
	fmt.Println(prepaid.OutcomeOf(err))

	sent, _ := errors.AsType[*prepaid.CallError](err)
	finding, lookErr := client.Accounts.FindMovement(ctx, prepaid.FindMovementParams{
		AccountID: from, Amount: params.Amount, Reference: params.SourceReference,
	}.Between(sent.FirstSent, sent.LastSent))
	if lookErr != nil { // ErrNotSeen is no proof: it stays unknown
		fmt.Println(lookErr)
		return
	}
	err = j.Resolve(params.RequestID, journal.Moved(finding.Transactions[0].ID)) // after a person has looked
	entry, _ := j.Get(params.RequestID)
	fmt.Println(err, entry.State, entry.Resolved, srv.Movements(params.RequestID))
	stats, err := j.Stats()
	fmt.Println(stats.Done.Count, stats.Done.Sum, stats.Unknown.Count, err)
	// Output:
	// unknown
	// <nil> done true 1
	// 1 25.50 0 <nil>
}
