// Disburse pays a file of payments, each once, however often it is killed and restarted: on an emulator inside this
// process by default, or on the real service (see -h).
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

const usage = `Disburse loads accounts from a CSV file of payments, at the service's full rate. Kill it
at any moment and start it again: nobody is paid twice or left out.

Usage: disburse -file payments.csv -run payroll-2026-11 -date 2026-11-30 [flags]

The file starts with the line key,account_id,amount,reference. A key identifies one payment
of the run and never changes. One invalid row refuses the whole file. Start with -dry-run, and
pass the -rows and -sum that it prints to the run itself, so that a different file is refused.

To continue a run, give the same command again. The file may grow meanwhile; rows that were
paid or are unknown must stay unchanged. A refused row is corrected under a new key, without
the old row; unchanged, it is sent again with -retry-refused only.
Keep the journal, <run>.<environment>.journal in the file's directory. The result is written
to <file>.summary.csv.

Without PREPAID_BASE_URL it demonstrates all this on an emulator inside this process, and
takes no flags. For the service, set

  PREPAID_BASE_URL            https://.../3.0/
  PREPAID_VENDOR              the word in application/vnd.<vendor>+json
  PREPAID_ENVIRONMENT         test or production
  PREPAID_CLIENT_ID           OAuth client ID
  PREPAID_CLIENT_SECRET_FILE  a file with the secret (or PREPAID_CLIENT_SECRET); never a flag
  PREPAID_FLOAT_ACCOUNT       EAID of the paying account, unless -float is given

Ctrl+C starts no further payment, waits for running ones and writes the summary; a second
one ends the program at once, which is safe too.

Exit status:
  0  every row is paid (with -dry-run: nothing prevents the run)
  1  finished, but rows were refused, or an earlier payment was returned: see the summary
  2  nothing was sent: the command line, environment, file, journal or float account is wrong
  3  unfinished, not found in the histories yet, or the output could not be written: run
     the same command again

`

// Exit statuses.
const (
	exitPaid       = 0
	exitRefused    = 1
	exitWrong      = 2
	exitUnfinished = 3
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it runs on the service of the environment, or demonstrates on an emulator, and returns the
// exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	config, err := prepaid.ConfigFromEnv()
	s := defaults(config)
	switch {
	case os.Getenv("PREPAID_BASE_URL") != "":
		s.invalid = err
	case len(args) > 0:
		s.invalid = errors.New("flags need PREPAID_BASE_URL; see -h")
	default:
		if err := demonstrate(ctx, out, errOut); err != nil {
			fmt.Fprintln(errOut, "disburse:", err)
			return exitRefused
		}
		return exitPaid
	}
	return s.run(ctx, args, out, errOut)
}

// settings are the parameters of a run except its arguments. The demonstration and the tests have shorter times.
type settings struct {
	config     prepaid.Config
	invalid    error         // of config
	booking    time.Duration // maximum delay of a history
	rateWindow time.Duration // window in which the service counts requests, including an earlier run's
	grace      time.Duration // for payments still running at Ctrl+C
	workers    int           // maximum of concurrent payments; the rate limit is kept with any number
	stopAfter  int           // failed payments in a row
	onPaid     func()        // after each payment; nil for nothing
}

func defaults(config prepaid.Config) settings {
	return settings{
		config: config, booking: 10 * time.Second, rateWindow: 10 * time.Second, grace: 15 * time.Second,
		workers: 100, stopAfter: 200,
	}
}

func (s settings) run(ctx context.Context, args []string, out, errOut io.Writer) int {
	j, err := parseJob(args, s.config.Environment, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitPaid
	}
	if err == nil {
		err = s.invalid
	}
	code := exitWrong
	if err == nil {
		d := &disbursement{settings: s, job: j, out: out, errOut: errOut}
		code, err = d.do(ctx)
	}
	if err != nil {
		fmt.Fprintln(errOut, "disburse:", err)
	}
	return code
}
