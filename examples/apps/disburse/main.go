// Disburse makes each payment of a file once, however often the program is killed and restarted. By default it uses an
// emulator inside this process; it can use the real service instead (see -h).
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

const usage = `Disburse pays the rows of a CSV file, each once, however often it is killed and restarted.

Usage: disburse -file payments.csv -run payroll-2026-11 -date 2026-11-30 [flags]

The first line of the file is key,account_id,amount,reference; a key identifies a payment of the run.
To continue a run, give the same command again. Without PREPAID_BASE_URL it demonstrates this on an
emulator and takes no flags. For the service, set also PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or
production), PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE.

Exit status: 0 all paid, 1 rows were refused or an earlier payment was returned, 2 nothing was sent, 3 run it again.

`

const exitPaid, exitRefused, exitWrong, exitUnfinished = 0, 1, 2, 3

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	os.Exit(run(ctx, os.Args[1:], os.Stdout, os.Stderr))
}

// run uses the service that the environment variables name, or demonstrates on an emulator. It returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	if len(args) == 0 && os.Getenv("PREPAID_BASE_URL") == "" {
		return exit(demonstrate(ctx, out, errOut), exitRefused, errOut)
	}
	config, err := prepaid.ConfigFromEnv()
	s := defaults(config)
	s.invalid = err
	return s.run(ctx, args, out, errOut)
}

func exit(err error, code int, errOut io.Writer) int {
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitPaid
	}
	fmt.Fprintln(errOut, "disburse:", err)
	return code
}

// settings are the parameters of a run that are not on the command line. The demonstration and the tests have shorter times.
type settings struct {
	config     prepaid.Config
	invalid    error         // the error of config
	booking    time.Duration // maximum delay of a history
	rateWindow time.Duration // window in which the service counts requests, including those of an earlier run
	grace      time.Duration // time left after Ctrl+C for payments in progress
	workers    int           // maximum of concurrent payments; any number stays within the rate limit
	stopAfter  int           // number of successive failed payments that ends the run
	onPaid     func()        // called after each payment; may be nil
}

func defaults(config prepaid.Config) settings {
	const window = 10 * time.Second
	return settings{config: config, booking: window, rateWindow: window, grace: 15 * time.Second, workers: 100, stopAfter: 200}
}

func (s settings) run(ctx context.Context, args []string, out, errOut io.Writer) int {
	j, err := parseJob(args, s.config.TestEnvironment, errOut)
	if err == nil {
		err = s.invalid
	}
	if err != nil {
		return exit(err, exitWrong, errOut)
	}
	d := &disbursement{settings: s, job: j, out: out, errOut: errOut}
	code, err := d.do(ctx)
	exit(err, code, errOut)
	return code
}
