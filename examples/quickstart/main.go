// Quickstart issues cards, moves money and shows what each call does: on an emulator inside this process by default, or
// on the real test environment (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
)

const usage = `Quickstart does the main job of a card program: it issues a card for each line of a CSV
file, activates and loads them, buys, transfers, reads the history, changes the program's
policy, runs a report, changes a PIN, receives a webhook and resolves a lost response.

Usage: quickstart [-cardholders file.csv] [-day 2026-11-21] [-again] [-pause 45s]

Without PREPAID_BASE_URL it runs against an emulator inside this process: nothing leaves
the machine. To run it against the service's test environment, set

  PREPAID_BASE_URL            https://.../3.0/
  PREPAID_ENVIRONMENT         test; anything else is refused, for it moves money and
                              blocks a merchant category of the program for a moment
  PREPAID_VENDOR              the word in application/vnd.<vendor>+json
  PREPAID_CLIENT_ID           OAuth client ID
  PREPAID_CLIENT_SECRET_FILE  a file with the secret (or PREPAID_CLIENT_SECRET); never a flag
  PREPAID_COMPANY_ID          the program
  PREPAID_PROGRAM_CLIENT_ID   the client_id of the program's accounts
  PREPAID_FLOAT_ACCOUNT       EAID of the account that pays for the loads
  PREPAID_REPORT_TEMPLATE     optional: name of a report template
  PREPAID_PIN_CERTIFICATE     optional: file with the operator's certificate

To run it again after an error, pass -again and the same -day: it finds the existing cards
and loads each once. Each new day loads again, and each run buys and transfers again.

Exit status: 0 if everything was done, 1 if a line was refused, a step failed or it was
interrupted, 2 if the command line or the environment is wrong.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status. Each example has its own main and flags, so that it can be
// copied alone.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	o, err := parseOptions(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return 0
	}
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	}
	rows, err := readCardholders(o.file)
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	}
	printed := &keeper{to: out}
	q, err := setUp(printed, o)
	defer q.tearDown()
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	}
	ctx, cancel := context.WithTimeoutCause(ctx, 30*time.Minute, errors.New("out of time"))
	defer cancel()
	q.do(ctx, rows)
	switch {
	case errors.Is(ctx.Err(), context.Canceled):
		fmt.Fprintln(errOut, "quickstart: interrupted")
		return 1
	case ctx.Err() != nil:
		fmt.Fprintln(errOut, "quickstart:", context.Cause(ctx))
		return 1
	}
	q.farewell()
	if printed.err != nil {
		fmt.Fprintln(errOut, "quickstart: the output is incomplete:", printed.err)
		return 1
	}
	if q.failures > 0 {
		return 1
	}
	return 0
}

// options are what the command line says.
type options struct {
	file  string
	day   prepaid.Date // of the loads
	again bool
	pause time.Duration
}

func parseOptions(args []string, errOut io.Writer) (options, error) {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	file := flags.String("cardholders", "", "CSV file of cardholders; default a shipped one")
	day := flags.String("day", "", "day of the loads: a card is loaded once per day; default today")
	again := flags.Bool("again", false, "an earlier run may have issued cards: search longer before creating any")
	pause := flags.Duration("pause", 45*time.Second, "wait between simulated actions on the real test environment")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return options{}, err
	case err != nil:
		return options{}, fmt.Errorf("see -h: %w", err)
	case flags.NArg() > 0:
		return options{}, errors.New("it takes flags only; see -h")
	case *pause < 0:
		return options{}, errors.New("-pause must not be negative")
	}
	o := options{file: *file, day: prepaid.DateOf(time.Now()), again: *again, pause: *pause}
	if *day != "" {
		if o.day, err = prepaid.ParseDate(*day); err != nil {
			return options{}, errors.New("-day must be a day such as 2026-11-21")
		}
	}
	return o, nil
}

// keeper keeps the first error of its writer: a full disk must not end as success.
type keeper struct {
	to  io.Writer
	err error
}

func (k *keeper) Write(p []byte) (int, error) {
	n, err := k.to.Write(p)
	if k.err == nil {
		k.err = err
	}
	return n, err
}
