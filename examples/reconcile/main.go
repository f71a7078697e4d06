// Reconcile checks the ledger of a card program account by account, and writes its transactions to a CSV file: of an emulator
// inside this process by default, or of the real service (see -h).
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
	"syscall"
	"time"

	_ "time/tzdata" // -zone also works on systems without zones

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
)

const usage = `Reconcile reads the accounts of a card program and their transactions of some days. For each
account it checks that opening balance + movements = closing balance, step by step, with the
balances reported by the service. It writes transactions.csv.

Usage: reconcile [flags]

Without PREPAID_BASE_URL it does so for a fictional program on an emulator in this process.
For the service set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or
production), PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and give -company. It only reads.

Exit status: 0 if every account reconciles; 1 if one does not (the output says which), or if the
run failed or was interrupted (the file of an earlier run then stays unchanged); 2 if the
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
	code := run(ctx, time.Now(), os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, now time.Time, args []string, out, errOut io.Writer) int {
	opts, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	var result *summary
	if err == nil {
		result, err = reconcile(ctx, opts, now, out, errOut)
	}
	if err != nil {
		fmt.Fprintln(errOut, "reconcile:", err)
	}
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case invalid || errors.Is(err, errSetup):
		return 2
	case err != nil || len(result.problems) > 0:
		return 1
	}
	return 0
}

// parse parses the command line. Missing or invalid flags are errSetup.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.Int64Var((*int64)(&opts.company), "company", 0, "ID of the program (company) whose accounts are read")
	flags.StringVar(&opts.clientID, "client", "", "read only accounts with this client_id")
	flags.TextVar(&opts.from, "from", prepaid.Date{}, "first `day`, such as 2026-07-01 (default half a year before the last)")
	flags.TextVar(&opts.to, "to", prepaid.Date{}, "last `day` (default yesterday, because it no longer changes; at most today)")
	flags.StringVar(&opts.zone, "zone", "UTC", "time zone in which a day starts and ends, such as Australia/Sydney")
	flags.StringVar(&opts.dir, "dir", "out", "directory of transactions.csv; created if missing")
	err := flags.Parse(args)
	emulated := os.Getenv("PREPAID_BASE_URL") == ""
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return opts, err
	case err != nil:
		return opts, fmt.Errorf("%w: %w", errSetup, err)
	case flags.NArg() > 0:
		return opts, fmt.Errorf("%w: it takes flags only", errSetup)
	case emulated && (opts.company != 0 || opts.clientID != ""):
		return opts, fmt.Errorf("%w: -company and -client need PREPAID_BASE_URL", errSetup)
	case !emulated && opts.company == 0:
		return opts, fmt.Errorf("%w: -company is required", errSetup)
	}
	return opts, nil
}

// window is the days that are read: whole days of one time zone, including the last one.
type window struct {
	first, last prepaid.Date
	zone        *time.Location
	today       bool // its last day is not over
}

// window applies the defaults.
func (o options) window(now time.Time) (w window, err error) {
	if w.zone, err = time.LoadLocation(o.zone); err != nil {
		return w, fmt.Errorf("%w: -zone is not a time zone", errSetup)
	}
	w.first, w.last = o.from, o.to
	if w.last.IsZero() {
		w.last = prepaid.DateOf(now.In(w.zone).AddDate(0, 0, -1))
	}
	if w.first.IsZero() {
		w.first = prepaid.DateOf(w.last.Time(time.UTC).AddDate(0, 0, 1).AddDate(0, -6, 0))
	}
	today := prepaid.DateOf(now.In(w.zone))
	w.today = w.last == today
	switch {
	case w.last.After(today):
		return w, fmt.Errorf("%w: -to is after today in -zone: future days cannot be reconciled", errSetup)
	case w.last.Before(w.first):
		return w, fmt.Errorf("%w: -to is before -from", errSetup)
	}
	return w, nil
}

// from returns the first moment of the window.
func (w window) from() time.Time { return w.first.Time(w.zone) }

// end returns the first moment after the window, so no second is counted twice or lost.
func (w window) end() time.Time {
	return prepaid.DateOf(w.last.Time(time.UTC).AddDate(0, 0, 1)).Time(w.zone)
}

// connect returns a client of the real service or, without PREPAID_BASE_URL, of an emulator with a fictional program.
func connect(opts *options, now time.Time) (client *prepaid.Client, stop func() error, err error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(opts, now)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return nil, nil, err
	}
	client, err = prepaid.NewClient(config)
	if err != nil {
		return nil, nil, err
	}
	return client, client.Close, nil
}

// reconcile is one run: it reads everything, then writes the file or leaves an earlier run's file.
func reconcile(ctx context.Context, opts options, now time.Time, out, errOut io.Writer) (result *summary, err error) {
	days, err := opts.window(now)
	if err != nil {
		return nil, err
	}
	client, stop, err := connect(&opts, now)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, stop()) }()
	if err := os.MkdirAll(opts.dir, 0o750); err != nil {
		return nil, err
	}
	rows, err := createRows(filepath.Join(opts.dir, "transactions.csv"))
	if err != nil {
		return nil, err
	}
	defer rows.discard()
	reader := &reader{accounts: client.Accounts, days: days, rows: rows}
	result = &summary{options: opts, days: days, seen: map[prepaid.AccountID]bool{}}
	file, ok := errOut.(*os.File)
	bar := progressbar.NewOptions(-1, // the company search need not report a total
		progressbar.OptionSetWriter(errOut), progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetSpinnerChangeInterval(0))
	list := prepaid.SearchCompanyParams{ProgramClientID: opts.clientID, Paging: prepaid.Paging{Size: pageSize, Prefetch: 1}}
	for account, err := range client.Accounts.SearchCompany(ctx, opts.company, list) {
		if err != nil {
			return nil, err
		}
		if result.seen[account.ID] { // the list shifted while it was read
			continue
		}
		s, err := reader.read(ctx, account.ID)
		if err != nil {
			return nil, err
		}
		if err := result.add(s); err != nil {
			return nil, err
		}
		bar.Describe(fmt.Sprintf("accounts %d, transactions %d", len(result.seen), result.total.items))
		_ = bar.Add(1) // writes to the terminal
	}
	_ = bar.Clear()
	if len(result.seen) == 0 { // a wrong ID is more likely than an empty program
		return nil, errors.New("no accounts found")
	}
	if err := rows.keep(); err != nil {
		return nil, err
	}
	if err := result.print(out); err != nil {
		return nil, fmt.Errorf("the file was written, but the output could not be: %w", err)
	}
	return result, nil
}
