package reconcile_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/prepaidtest"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/reconcile"
)

// rowsOf iterates over the rows of a journal. With contrib/postgres, range over Store.All instead.
func rowsOf(j *journalfile.Journal) iter.Seq2[reconcile.Row, error] {
	return func(yield func(reconcile.Row, error) bool) {
		for e := range j.All() {
			if !yield(reconcile.RowOf(e), nil) {
				return
			}
		}
		if err := j.Err(); err != nil { // the loop may have ended early
			yield(reconcile.Row{}, err)
		}
	}
}

// Each night, a journal is compared with the histories of its paying accounts.
func Example() {
	srv, err := prepaidtest.Start(prepaidtest.Options{RandomSeed: new(uint64(1))})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer srv.Close()
	ctx, client := context.Background(), srv.Client()
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
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	if _, err := j.Transfer(ctx, client.Accounts, from, prepaid.TransferParams{
		RequestID: "emp-7", Amount: prepaid.Cents(2550), DestinationAccountID: to, SourceReference: "PAYROLL", DestinationReference: "SALARY",
	}); err != nil {
		fmt.Println(err)
		return
	}

	nightly, err := client.With(prepaid.Overrides{Lane: ratelimit.Bulk})
	if err != nil {
		fmt.Println(err)
		return
	}
	run := reconcile.Run{
		Books: rowsOf(j), Histories: nightly.Accounts, // set Since to last night's checkpoint
		Ignore: func(t *prepaid.Transaction) bool { return t.Amount.Sign() > 0 }, // the journal has only payments
	}
	for finding, err := range run.Findings(ctx) {
		if failed, ok := errors.AsType[*reconcile.AccountError](err); ok {
			fmt.Println("not read:", failed.AccountID, failed.Err) // the next run reads it from the same time
			continue
		}
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Println(finding.Kind, len(finding.Rows), len(finding.Items)) // either may be empty
	}
	_, complete := run.Checkpoint() // store it
	fmt.Println(complete)
	// Output:
	// matched 1 1
	// true
}
