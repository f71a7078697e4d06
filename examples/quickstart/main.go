// Quickstart issues cards, moves money and shows the result of each call: on an emulator inside this process by default, or
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

const usage = `Quickstart does the main job of a card program: it issues three cards, activates and loads
them, buys, transfers, reads the history, changes the program's policy, runs a report and
resolves a lost response.

Usage: quickstart [-day 2026-11-21] [-again] [-pause 45s]

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

To run it again after an error, pass -again and the same -day: it finds the existing cards
and loads each once. Each new day loads again, and each run buys and transfers again.

Exit status: 0 if everything was done, 1 if a step failed, which ends the run, or it was
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
	status := 2
	if err == nil {
		q := &quickstart{options: o, out: out}
		defer q.tearDown()
		if err = q.setUp(); err == nil {
			status, err = 1, q.do(ctx)
		}
	}
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return status
	}
	return 0
}

// options are the values on the command line.
type options struct {
	day   prepaid.Date // of the loads
	again bool
	pause time.Duration
}

func parseOptions(args []string, errOut io.Writer) (options, error) {
	o := options{day: prepaid.DateOf(time.Now())}
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.TextVar(&o.day, "day", o.day, "day of the loads: a card is loaded once per day; default today")
	flags.BoolVar(&o.again, "again", false, "an earlier run may have issued cards: search longer before creating any")
	flags.DurationVar(&o.pause, "pause", 45*time.Second, "wait between simulated actions on the real test environment")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("see -h: %w", err)
	case flags.NArg() > 0:
		return o, errors.New("it takes flags only; see -h")
	case o.pause < 0:
		return o, errors.New("-pause must not be negative")
	}
	return o, nil
}
