// Report runs a report and streams it into a file, as CSV or as JSON lines: on an emulator inside this process by
// default, or on the real service (see -h).
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

const usage = `Report starts a run of a report template, waits for it, and streams its rows into a file, in
constant memory. The file appears when every row is in it and the number of rows agrees with the
service's count. The rows before an error are kept as <file>.partial.

Usage: report [flags]
       report -resume <id> [flags]    read a run that was started up to 4 hours ago

Without PREPAID_BASE_URL it runs on an emulator inside this process, whose connection breaks once.
For the service set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production),
PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and give -template.

Exit status: 0 if the file is complete; 1 if there is no such run, or it failed, or the file
cannot be written; 2 if the command line or the environment is wrong; 3 if the file is
incomplete and the run can be read again, with -resume and the printed ID.

`

var (
	// errSetup is a wrong command line or environment.
	errSetup = errors.New("see -h")
	// errResumable is a run that was not read to its end and can be read again.
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

// run does the work of main and returns the exit status. Each example has its own main and flags, so that it can be
// copied alone.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	opts, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err == nil {
		progress := newProgress(errOut)
		if os.Getenv("PREPAID_BASE_URL") == "" {
			err = demonstrate(ctx, opts, out, progress)
		} else {
			err = fetch(ctx, opts, out, progress)
		}
		_ = progress.Clear()
	}
	if err != nil {
		fmt.Fprintln(errOut, "report:", err)
	}
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case err == nil:
		return 0
	case invalid || errors.Is(err, errSetup):
		return 2
	case errors.Is(err, errResumable):
		return 3
	}
	return 1
}

// parse parses the command line. Missing or invalid flags are errSetup.
func parse(args []string, errOut io.Writer) (options, error) {
	var opts options
	flags := flag.NewFlagSet("report", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.StringVar(&opts.template, "template", "", "name of the report template")
	flags.StringVar(&opts.resume, "resume", "", "ID of a run to read instead of starting one")
	flags.StringVar(&opts.format, "format", "csv", "csv, or jsonl: an object per line, with the column names")
	flags.StringVar(&opts.file, "file", "", "file to write (default out/<template>.<format>)")
	flags.DurationVar(&opts.timeout, "timeout", time.Hour, "how long to wait and read in total")
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
	case opts.format != "csv" && opts.format != "jsonl":
		return opts, fmt.Errorf("%w: -format must be csv or jsonl", errSetup)
	case opts.timeout <= 0:
		return opts, fmt.Errorf("%w: -timeout must be positive", errSetup)
	case emulated && (opts.template != "" || opts.resume != ""):
		return opts, fmt.Errorf("%w: -template and -resume need PREPAID_BASE_URL", errSetup)
	case emulated:
		opts.template = madeUpTemplate
	case opts.template == "":
		return opts, fmt.Errorf("%w: -template is required", errSetup)
	}
	if opts.file == "" {
		opts.file = filepath.Join("out", filepath.Base(opts.template)+"."+opts.format)
	}
	return opts, nil
}

// fetch reads a report of the real service.
func fetch(ctx context.Context, opts options, out io.Writer, progress *progressbar.ProgressBar) (err error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	d := &download{reporting: client.Reporting, options: opts, out: out, progress: progress}
	return d.do(ctx)
}
