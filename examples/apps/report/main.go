// Report starts a report and streams the rows into a file, as CSV or as JSON lines. By default it uses an emulator inside
// this process; it can use the real service instead (see -h).
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

	"github.com/schollz/progressbar/v3"

	"github.com/cardprograms/prepaid"
)

const usage = `Report starts a run of a report template, waits for it, and streams its rows into a file, which appears when
every row is in it. Without PREPAID_BASE_URL it runs on an emulator, whose connection breaks once. For the service
set also PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production), PREPAID_CLIENT_ID and
PREPAID_CLIENT_SECRET_FILE, and give -template.

Exit status: 0 if the file is complete; 1 if there is no such run, it failed, or the file cannot be written; 2 if
the command line or the environment is wrong; 3 if the run can be read again, with -resume and the printed ID.

`

var (
	// errSetup means that the command line or the environment is wrong.
	errSetup = errors.New("see -h")
	// errResumable means that a run was not read to its end and can be read again.
	errResumable = errors.New("not finished")
)

// options are the values of the command line.
type options struct {
	template string
	resume   string
	format   string
	file     string
	timeout  time.Duration
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	opts, err := parse(args, errOut)
	progress := newProgress(errOut)
	if err == nil && os.Getenv("PREPAID_BASE_URL") == "" {
		err = demonstrate(ctx, opts, out, progress)
	} else if err == nil {
		err = fetch(ctx, opts, out, progress)
	}
	_ = progress.Clear()
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "report:", err)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case invalid || errors.Is(err, errSetup):
		return 2
	case errors.Is(err, errResumable):
		return 3
	}
	return 1
}

// parse parses the command line. It returns errSetup for missing or invalid flags.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	flags.StringVar(&opts.template, "template", "", "name of the report template")
	flags.StringVar(&opts.resume, "resume", "", "ID of a run to read instead of starting one")
	flags.StringVar(&opts.format, "format", "csv", "csv, or jsonl: an object per line, with the column names")
	flags.StringVar(&opts.file, "file", "", "file to write (default out/<template>.<format>)")
	flags.DurationVar(&opts.timeout, "timeout", time.Hour, "how long to wait and read in total")
	err := flags.Parse(args)
	emulated := os.Getenv("PREPAID_BASE_URL") == ""
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = errors.New("it takes flags only")
	case opts.format != "csv" && opts.format != "jsonl":
		err = errors.New("-format must be csv or jsonl")
	case opts.timeout <= 0:
		err = errors.New("-timeout must be positive")
	case emulated && (opts.template != "" || opts.resume != ""):
		err = errors.New("-template and -resume need PREPAID_BASE_URL")
	case emulated:
		opts.template = madeUpTemplate
	case opts.template == "":
		err = errors.New("-template is required")
	}
	if err != nil {
		return opts, fmt.Errorf("%w: %w", errSetup, err)
	}
	if opts.file == "" {
		opts.file = filepath.Join("out", filepath.Base(opts.template)+"."+opts.format)
	}
	return opts, nil
}

// fetch reads a report of the real service.
func fetch(ctx context.Context, opts options, out io.Writer, progress *progressbar.ProgressBar) error {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // never fails
	d := &download{reporting: client.Reporting, options: opts, out: out, progress: progress}
	return d.do(ctx)
}
