// Reconcile is for a nightly cron job: it compares journals of payments with the histories of the paying accounts. By default
// it uses an emulator inside this process; it can use the real service instead (see -h).
package main

import (
	"context"
	"encoding/csv"
	"errors"
	"flag"
	"fmt"
	"io"
	"iter"
	"maps"
	"os"
	"os/signal"
	"strconv"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/reconcile"
)

const usage = `Reconcile compares journals of payments with the histories of the paying accounts, and prints as CSV
what does not match. It only reads, keeps no file, and pays nothing.

Usage: reconcile [-days 35] journal...

Give all journals of payments from these accounts: without its journal, a payment is "service only".
Without PREPAID_BASE_URL it compares fictional books on an emulator in this process. For the service
set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production), PREPAID_CLIENT_ID and
PREPAID_CLIENT_SECRET_FILE.

Exit status: 0 no difference; 1 differences; 2 the command line or the environment is wrong; 3 a
journal or an account could not be read; 4 interrupted. Only with 0 and 1 the output is complete.

`

const exitEqual, exitDiffers, exitWrong, exitIncomplete, exitInterrupted = 0, 1, 2, 3, 4

// errSetup means that the command line or the environment is wrong.
var errSetup = errors.New("see -h")

// options are the values of the command line.
type options struct {
	days     int
	journals []string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run does the work of main, and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	opts, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitEqual
	}
	code := exitWrong
	if err == nil {
		code, err = compare(ctx, opts, out, errOut)
	}
	if err == nil {
		return code
	}
	fmt.Fprintln(errOut, "reconcile:", err)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case invalid || errors.Is(err, errSetup):
		return exitWrong
	case ctx.Err() != nil:
		return exitInterrupted
	}
	return exitIncomplete
}

// parse parses the command line. It returns errSetup for missing or invalid arguments.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.IntVar(&opts.days, "days", 35, "`number` of days until now that are compared; keep journals for a day longer")
	err := flags.Parse(args)
	opts.journals = flags.Args()
	emulated := os.Getenv("PREPAID_BASE_URL") == ""
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return opts, err
	case err != nil:
		return opts, fmt.Errorf("%w: %w", errSetup, err)
	case opts.days < 1:
		return opts, fmt.Errorf("%w: -days must be at least 1", errSetup)
	case emulated != (len(opts.journals) == 0):
		return opts, fmt.Errorf("%w: journals need PREPAID_BASE_URL, and PREPAID_BASE_URL needs journals", errSetup)
	}
	for _, path := range opts.journals {
		if _, err := os.Stat(path); err != nil { // journalfile.Open would create it
			return opts, fmt.Errorf("%w: journal: %w", errSetup, err)
		}
	}
	return opts, nil
}

// sides are the books and the service.
type sides struct {
	books   iter.Seq2[reconcile.Row, error]
	client  *prepaid.Client
	planted map[reconcile.Kind]int // the expected findings; nil on the real service
	close   func() error
}

// open opens both sides: the real service and the journals or, without PREPAID_BASE_URL, an emulator and fictional books.
func open(opts options) (sides, error) {
	if len(opts.journals) == 0 {
		return emulate(time.Now().UTC())
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return sides{}, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return sides{}, err
	}
	both := sides{client: client, close: client.Close}
	var journals []*journalfile.Journal
	for _, path := range opts.journals {
		j, err := journalfile.Open(path, journalfile.Options{})
		if err != nil {
			return sides{}, errors.Join(err, both.close())
		}
		rest := both.close
		journals, both.close = append(journals, j), func() error { return errors.Join(j.Close(), rest()) }
	}
	both.books = rows(journals)
	return both, nil
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

// compare makes one run, and returns the exit status. It stores no checkpoint: each run compares the same number of days, so that a
// difference is printed each night of this period, and no run depends on the journals of another.
func compare(ctx context.Context, opts options, out, errOut io.Writer) (code int, err error) {
	both, err := open(opts)
	if err != nil {
		return exitIncomplete, err
	}
	defer func() { err = errors.Join(err, both.close()) }()
	nightly, err := both.client.With(prepaid.Overrides{Lane: ratelimit.Bulk}) // this lane gives way to calls for users
	if err != nil {
		return exitIncomplete, err
	}
	comparison := reconcile.Run{
		Books: both.books, Histories: nightly.Accounts, Since: reconcile.Checkpoint{To: time.Now().AddDate(0, 0, -opts.days)},
		Ignore: func(t *prepaid.Transaction) bool { return t.Amount.Sign() >= 0 }, // the journals have payments only
	}
	kinds, number := map[reconcile.Kind]int{}, 0
	table := csv.NewWriter(out)
	_ = table.Write(columns()) // Error reports failures
	for finding, err := range comparison.Findings(ctx) {
		if failed, ok := errors.AsType[*reconcile.AccountError](err); ok {
			fmt.Fprintf(errOut, "not read, and without findings: account %s: %v\n", failed.AccountID, failed.Err)
			code = exitIncomplete
			continue
		}
		if err != nil {
			return exitIncomplete, err
		}
		if kinds[finding.Kind]++; finding.Kind != reconcile.KindMatched {
			number++
			write(table, strconv.Itoa(number), &finding)
		}
	}
	differences := -kinds[reconcile.KindMatched] - kinds[reconcile.KindTooEarly]
	for _, kind := range reconcile.Kinds() {
		differences += kinds[kind]
		_ = table.Write([]string{"total", kind.String(), strconv.Itoa(kinds[kind]), "", "", "", "", "", ""})
	}
	table.Flush()
	switch {
	case table.Error() != nil:
		return exitIncomplete, table.Error()
	case code != exitEqual || maps.Equal(kinds, both.planted):
		return code, nil
	case differences > 0:
		fmt.Fprintf(errOut, "differences: %d. None is a reason to send a payment: look at each, and ask the operator.\n", differences)
		return exitDiffers, nil
	}
	return exitEqual, nil
}

// columns are the columns of the output; README.md describes them.
func columns() []string {
	return []string{"finding", "kind", "account_id", "side", "request_id", "transaction_id", "amount", "time", "state"}
}

// write writes a line for each row and each item of a finding.
func write(table *csv.Writer, number string, f *reconcile.Finding) {
	kind, account := f.Kind.String(), string(f.AccountID)
	for _, r := range f.Rows {
		_ = table.Write([]string{
			number, kind, account, "books", string(r.RequestID), string(r.TransactionID), r.Amount.String(), r.From.Format(time.RFC3339), r.Expected.String(),
		})
	}
	for _, i := range f.Items {
		_ = table.Write([]string{
			number, kind, account, "service", "", string(i.TransactionID), i.Amount.String(), i.OccurredAt.Format(time.RFC3339), "",
		})
	}
}
