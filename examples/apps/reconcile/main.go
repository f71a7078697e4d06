// Reconcile is for a nightly cron job: it compares journals of payments with the histories of the paying accounts, and prints as CSV what
// does not match. It only reads, and pays nothing:
//
//	reconcile /srv/payroll/*.production.journal >findings.csv
//
// Without PREPAID_BASE_URL it compares a journal with an emulator inside this process. The exit status is 0 even if there are differences.
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"fmt"
	"iter"
	"log"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/reconcile"
)

// days is how many days until now are compared. Keep journals for a day longer.
const days = 35

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err) // the output is not complete
	}
}

func run(ctx context.Context, paths []string) (err error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(ctx)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	var journals []*journalfile.Journal
	defer func() {
		for _, j := range journals {
			err = errors.Join(err, j.Close())
		}
	}()
	for _, path := range paths {
		if _, err := os.Stat(path); err != nil { // Open would create it
			return err
		}
		j, err := journalfile.Open(path, journalfile.Options{})
		if err != nil {
			return err
		}
		journals = append(journals, j)
	}
	return compare(ctx, client, rows(journals))
}

// rows returns the rows of journals. For payments in Postgres, range over Store.All of contrib/postgres instead.
func rows(journals []*journalfile.Journal) iter.Seq2[reconcile.Row, error] {
	return func(yield func(reconcile.Row, error) bool) {
		for _, j := range journals {
			for e := range j.All() {
				if !yield(reconcile.RowOf(e), nil) {
					return
				}
			}
			if err := j.Err(); err != nil { // the loop may have ended early
				yield(reconcile.Row{}, err)
				return
			}
		}
	}
}

// compare makes one run. It stores no checkpoint: a difference is printed each night of the period.
func compare(ctx context.Context, client *prepaid.Client, books iter.Seq2[reconcile.Row, error]) error {
	nightly, err := client.With(prepaid.Overrides{Lane: ratelimit.Bulk}) // this lane gives way to calls for users
	if err != nil {
		return err
	}
	comparison := reconcile.Run{
		Books: books, Histories: nightly.Accounts, Since: reconcile.Checkpoint{To: time.Now().AddDate(0, 0, -days)},
		Ignore: func(t *prepaid.Transaction) bool { return t.Amount.Sign() >= 0 }, // the journals have payments only
	}
	table := csv.NewWriter(os.Stdout)
	_ = table.Write([]string{"kind", "account_id", "side", "request_id", "transaction_id", "amount", "time", "state"}) // Error reports failures
	var failed []error
	kinds := map[reconcile.Kind]int{}
	for finding, err := range comparison.Findings(ctx) {
		if account, ok := errors.AsType[*reconcile.AccountError](err); ok {
			failed = append(failed, fmt.Errorf("not read: account %s: %w", account.AccountID, account.Err))
			continue
		}
		if err != nil {
			return err
		}
		if kinds[finding.Kind]++; finding.Kind != reconcile.KindMatched {
			write(table, &finding)
		}
	}
	table.Flush()
	for _, kind := range reconcile.Kinds() {
		fmt.Fprintf(os.Stderr, "%s: %d\n", kind, kinds[kind])
	}
	return errors.Join(append(failed, table.Error())...)
}

// write writes a line for each row and each item of a finding, without names, card numbers or texts.
func write(table *csv.Writer, f *reconcile.Finding) {
	for _, r := range f.Rows {
		_ = table.Write([]string{
			f.Kind.String(), string(f.AccountID), "books", string(r.RequestID), string(r.TransactionID), r.Amount.String(),
			r.From.Format(time.RFC3339), r.Expected.String(),
		})
	}
	for _, i := range f.Items {
		_ = table.Write([]string{
			f.Kind.String(), string(f.AccountID), "service", "", string(i.TransactionID), i.Amount.String(), i.OccurredAt.Format(time.RFC3339), "",
		})
	}
}
