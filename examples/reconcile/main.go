// Reconcile checks the ledger of a card program account by account, and writes its transactions to a CSV file and a
// page with charts: of an emulator inside this process by default, or of the real service (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	_ "time/tzdata" // -zone also works on systems without zones

	"github.com/cardprograms/prepaid"
)

const usage = `Reconcile reads the accounts of a card program and their transactions of some days. For each
account it checks that opening balance + movements = closing balance, step by step, with the
balances reported by the service. It writes transactions.csv and reconcile.html.

Usage: reconcile [flags]

Without PREPAID_BASE_URL it does so for a fictional program on an emulator in this process.
For the service set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or
production), PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and give -company. It only reads.

Exit status: 0 if every account reconciles; 1 if one does not (the files say which), or if the
run failed or was interrupted (the files of an earlier run then stay unchanged); 2 if the
command line or the environment is wrong.

`

// errSetup is a wrong command line or environment.
var errSetup = errors.New("see -h")

// options are the values of the command line.
type options struct {
	company  prepaid.CompanyID
	clientID string // of the program's accounts; empty for all
	from, to prepaid.Date
	zone     string
	dir      string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	return runAt(ctx, time.Now(), args, out, errOut)
}

// runAt is run at a given time.
func runAt(ctx context.Context, now time.Time, args []string, out, errOut io.Writer) int {
	said := &output{to: out}
	opts, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var result *summary
	if err == nil {
		result, err = reconcile(ctx, opts, now, said, errOut)
	}
	if err == nil && said.err != nil {
		err = fmt.Errorf("the files were written, but the output could not be: %w", said.err)
	}
	if err != nil {
		fmt.Fprintln(errOut, "reconcile:", err)
	}
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case invalid || errors.Is(err, errSetup):
		return 2
	case err != nil || result.faulty > 0:
		return 1
	}
	return 0
}

// parse parses the command line. Missing or invalid flags are errSetup.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.Func("company", "ID of the program (company) whose accounts are read", func(text string) error {
		id, err := strconv.ParseInt(text, 10, 64)
		if err != nil {
			return errors.New("must be a whole number")
		}
		opts.company = prepaid.CompanyID(id)
		return nil
	})
	flags.StringVar(&opts.clientID, "client", "", "read only accounts with this client_id")
	flags.Func("from", "first day, such as 2026-07-01 (default half a year before the last)", dateFlag(&opts.from))
	flags.Func("to", "last day (default yesterday, because it no longer changes; at most today)", dateFlag(&opts.to))
	flags.StringVar(&opts.zone, "zone", "UTC", "time zone in which a day starts and ends, such as Australia/Sydney")
	flags.StringVar(&opts.dir, "dir", "out", "directory for the two files; created if missing")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			flags.SetOutput(errOut)
			fmt.Fprint(errOut, usage)
			flags.PrintDefaults()
			return opts, err
		}
		return opts, fmt.Errorf("%w: %w", errSetup, err)
	}
	if flags.NArg() > 0 {
		return opts, fmt.Errorf("%w: it takes flags only", errSetup)
	}
	return opts, nil
}

func dateFlag(to *prepaid.Date) func(string) error {
	return func(text string) (err error) {
		*to, err = prepaid.ParseDate(text)
		return err
	}
}

// reconcile is one run: it reads everything, then writes both files or neither.
func reconcile(ctx context.Context, opts options, now time.Time, out, errOut io.Writer) (result *summary, err error) {
	days, err := opts.window(now)
	if err != nil {
		return nil, err
	}
	source, err := connect(&opts, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, source.close()) }()
	if err := os.MkdirAll(opts.dir, 0o750); err != nil {
		return nil, err
	}
	rows, err := createRows(filepath.Join(opts.dir, "transactions.csv"))
	if err != nil {
		return nil, err
	}
	defer rows.discard()
	fmt.Fprintf(out, "Company %s, %s to %s (%s)\n", opts.company, days.first, days.last(), days.zone)
	if days.last() == prepaid.DateOf(now.In(days.zone)) {
		fmt.Fprintln(out, "The last day is today and not over: later transactions are missing, and accounts may change while they are read.")
	}
	if source.emulator != nil {
		fmt.Fprintln(out, "Fictional data, on an emulator inside this process; nothing leaves this machine.")
	}

	reader := &reader{accounts: source.client.Accounts, days: days, rows: rows}
	result = newSummary(days)
	progress := newProgress(errOut)
	defer progress.done()
	list := prepaid.SearchCompanyParams{ProgramClientID: opts.clientID, Paging: prepaid.Paging{Size: pageSize, Prefetch: 1}}
	for account, err := range source.client.Accounts.SearchCompany(ctx, opts.company, list) {
		if err != nil {
			return nil, err
		}
		if result.seen(account.ID) { // the list has shifted while it was read
			continue
		}
		s, balances, err := reader.read(ctx, account)
		if err != nil {
			return nil, err
		}
		if err := result.add(s, balances); err != nil {
			return nil, err
		}
		progress.show(result)
	}
	progress.done()
	if len(result.statements) == 0 { // a wrong ID is more likely than an empty program
		return nil, errors.New("no accounts found")
	}
	if err := finish(opts, now, rows, result); err != nil {
		return nil, err
	}
	result.print(out, opts.dir)
	return result, nil
}

// finish writes the page, then renames both files.
func finish(opts options, now time.Time, rows *rowFile, result *summary) error {
	page, err := createFile(filepath.Join(opts.dir, "reconcile.html"))
	if err != nil {
		return err
	}
	defer page.discard()
	if err := writePage(page, newPage(opts, now, result)); err != nil {
		return err
	}
	return errors.Join(rows.keep(), page.keep())
}
