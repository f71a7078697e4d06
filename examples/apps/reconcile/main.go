// Reconcile is for a nightly cron job: it compares a journal of payments with the histories of the paying accounts. By default
// it uses an emulator inside this process; it can use the real service instead (see -h).
package main

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"io/fs"
	"iter"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal/journalfile"
	"github.com/cardprograms/prepaid/ratelimit"
	"github.com/cardprograms/prepaid/reconcile"
)

const usage = `Reconcile compares a journal of payments with the histories of the paying accounts. It writes
findings-TIME.csv, chart-TIME.html and, on the service, checkpoint.json for the next run. It only
reads, and pays nothing.

Usage: reconcile [flags]

Without PREPAID_BASE_URL it does so for fictional books on an emulator in this process. For the
service set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production),
PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and give -journal.

Exit status: 0 if there is no difference; 1 if there is one, if an account could not be read, or
if the run failed or was interrupted (checkpoint.json then stays unchanged); 2 if the command line
or the environment is wrong.

`

// errSetup means that the command line or the environment is wrong.
var errSetup = errors.New("see -h")

// options are the values of the command line.
type options struct{ journal, dir string }

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run does the work of main, and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	opts, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	agrees := false
	if err == nil {
		agrees, err = compare(ctx, opts, out, errOut)
	}
	if err != nil {
		fmt.Fprintln(errOut, "reconcile:", err)
	}
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case invalid || errors.Is(err, errSetup):
		return 2
	case err != nil || !agrees:
		return 1
	}
	return 0
}

// parse parses the command line. It returns errSetup for missing or invalid flags.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("reconcile", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.StringVar(&opts.journal, "journal", "", "`file` of the journal; no payroll may be running on it")
	flags.StringVar(&opts.dir, "dir", "out", "directory of the output; created if missing")
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
	case emulated && opts.journal != "":
		return opts, fmt.Errorf("%w: -journal needs PREPAID_BASE_URL", errSetup)
	case !emulated && opts.journal == "":
		return opts, fmt.Errorf("%w: -journal is required", errSetup)
	}
	if _, err := os.Stat(opts.journal); err != nil && !emulated { // journalfile.Open would create it
		return opts, fmt.Errorf("%w: -journal: %w", errSetup, err)
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

// open opens both sides: the real service and the journal or, without PREPAID_BASE_URL, an emulator and fictional books.
func open(opts options, now time.Time) (sides, error) {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(now)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return sides{}, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return sides{}, err
	}
	j, err := journalfile.Open(opts.journal, journalfile.Options{})
	if err != nil {
		return sides{}, errors.Join(err, client.Close())
	}
	return sides{
		books: rows(j), client: client, close: func() error { return errors.Join(j.Close(), client.Close()) },
	}, nil
}

// rows returns the rows of a journal. For payments in Postgres, range over Store.All of contrib/postgres instead.
func rows(j *journalfile.Journal) iter.Seq2[reconcile.Row, error] {
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

// compare makes one run. On the service, it reports whether there is no difference; on the emulator, whether the findings are as planted.
func compare(ctx context.Context, opts options, out, errOut io.Writer) (agrees bool, err error) {
	now := time.Now().UTC()
	both, err := open(opts, now)
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, both.close()) }()
	nightly, err := both.client.With(prepaid.Overrides{Lane: ratelimit.Bulk}) // this lane gives way to calls for users
	if err != nil {
		return false, err
	}
	if err := os.MkdirAll(opts.dir, 0o700); err != nil {
		return false, err
	}
	path := filepath.Join(opts.dir, "checkpoint.json")
	var since reconcile.Checkpoint
	if text, err := os.ReadFile(path); err == nil && both.planted == nil {
		if err := json.Unmarshal(text, &since); err != nil {
			return false, err
		}
	} else if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return false, err
	}
	written, err := create(opts.dir, now)
	if err != nil {
		return false, err
	}
	defer written.discard()
	file, ok := errOut.(*os.File)
	bar := progressbar.NewOptions(1, progressbar.OptionSetWriter(errOut), progressbar.OptionShowCount(),
		progressbar.OptionThrottle(100*time.Millisecond), progressbar.OptionSetVisibility(ok && term.IsTerminal(int(file.Fd()))))
	comparison := reconcile.Run{
		Books: both.books, Histories: nightly.Accounts, Since: since, Directory: opts.dir,
		Ignore: func(t *prepaid.Transaction) bool { return t.Amount.Sign() >= 0 }, // the journal has payments only
		OnProgress: func(p reconcile.Progress) {
			bar.ChangeMax(p.Accounts)
			bar.Describe(fmt.Sprintf("accounts, %d rows, %d transactions", p.Rows, p.Items))
			_ = bar.Set(p.Done) // an error affects only the display
		},
	}
	result := summary{kinds: map[reconcile.Kind]int{}, days: map[string]map[reconcile.Kind]int{}}
	for finding, err := range comparison.Findings(ctx) {
		if failed, ok := errors.AsType[*reconcile.AccountError](err); ok {
			result.failed = append(result.failed, failed)
			continue
		}
		if err == nil {
			result.add(&finding)
			err = written.write(&finding)
		}
		if err != nil {
			return false, err
		}
	}
	_ = bar.Clear()
	checkpoint, _ := comparison.Checkpoint()
	if err := written.keep(&result); err != nil {
		return false, err
	}
	if err := result.print(out, checkpoint.To, written); err != nil {
		return false, fmt.Errorf("the files were written, but the output could not be: %w", err)
	}
	if both.planted != nil {
		return maps.Equal(result.kinds, both.planted) && len(result.failed) == 0, nil
	}
	// The checkpoint is stored last: if storing it fails, the next run has the same findings again.
	return result.differences() == 0 && len(result.failed) == 0, store(path, checkpoint)
}

func store(path string, checkpoint reconcile.Checkpoint) error {
	text, err := json.Marshal(checkpoint)
	if err == nil {
		err = os.WriteFile(path+".new", text, 0o600)
	}
	if err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}
