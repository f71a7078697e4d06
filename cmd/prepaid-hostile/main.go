// Command prepaid-hostile tests a payment loop in any language: it runs copies of a worker against the emulator of package
// prepaidtest, injects failures, and compares every account with the orders.
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-hostile -h
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

	"github.com/cardprograms/prepaid/hostile"
)

// Exit statuses.
const (
	exitSafe       = 0
	exitWrong      = 1 // the payments, or the claims in a summary, are wrong
	exitUsage      = 2
	exitUnfinished = 3
)

const usage = `Usage: prepaid-hostile [flags] -- worker [arguments]

Runs several copies of a worker against an emulator of the service, kills and freezes them, cuts their network, freezes the
service, loses responses, lets repeats overtake the first request and pay, and compares every account with what was ordered.

A copy finds in its environment the PREPAID_ variables of a client, and
  PREPAID_HOSTILE_PAYMENTS   file with the payments to make, one JSON object a line
  PREPAID_HOSTILE_DIR        directory that all copies share, empty at the start
  PREPAID_HOSTILE_SUMMARY    file to write {"request_id": "...", "state": "paid|rejected|unknown"} lines to; optional
  PREPAID_HOSTILE_WORKER     number of the copy
It ends with status 0 when all outcomes are final. After any other end it is run again. When its standard input ends, it should end.

Exit status:
  0  every payment was made once, and nothing else was
  1  money or a summary is wrong: see the timelines
  2  the command line is wrong, or a command cannot be run
  3  the workers did not finish

A number below 0 means none. Flags:
`

func main() {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	release()
	os.Exit(code)
}

// run does the work of main and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	options, err := parse(args, errOut)
	if errors.Is(err, flag.ErrHelp) {
		return exitSafe
	}
	if err != nil {
		return exitUsage // parse has printed the error
	}
	report, err := hostile.Run(ctx, options)
	if err != nil {
		fmt.Fprintln(errOut, "prepaid-hostile:", err)
		return exitUsage
	}
	_, printed := fmt.Fprint(out, report)
	switch {
	case len(report.Findings) > 0:
		return exitWrong
	case !report.OK() || printed != nil:
		return exitUnfinished
	}
	return exitSafe
}

// parse reads the command line.
func parse(args []string, errOut io.Writer) (hostile.Options, error) {
	o := hostile.Options{Log: errOut}
	set := flag.NewFlagSet("prepaid-hostile", flag.ContinueOnError)
	set.SetOutput(errOut)
	set.Usage = func() {
		fmt.Fprint(errOut, usage)
		set.PrintDefaults()
	}
	set.Uint64Var(&o.Seed, "seed", 0, "faults follow from this `number`; 0 chooses one")
	set.IntVar(&o.Payments, "payments", 0, "`number` of payments (default 100)")
	set.BoolVar(&o.TransfersOnly, "transfers-only", false, "no direct entries")
	set.IntVar(&o.Copies, "copies", 0, "`number` of workers at the same time; 1 for one that takes a lock (default 2)")
	set.Float64Var(&o.Faults, "faults", 0, "`part` of the payments with faults, at most 1 (default 0.4)")
	set.IntVar(&o.Kills, "kills", 0, "how `often` a worker is killed (default one in 10 payments)")
	set.IntVar(&o.Freezes, "freezes", 0, "how `often` a worker is frozen (default one in 20 payments)")
	set.DurationVar(&o.Freeze, "freeze", 0, "how `long` at least; choose more than a lease (default 2s)")
	set.IntVar(&o.NetworkCuts, "network-cuts", 0, "how `often` the network of a worker is cut (default one in 20 payments)")
	set.IntVar(&o.ServiceFreezes, "service-freezes", 0, "how `often` the service is frozen (default one in 50 payments, at most 10)")
	set.DurationVar(&o.AttemptTimeout, "attempt-timeout", 0, "PREPAID_ATTEMPT_TIMEOUT of the workers, a `duration` (default 250ms)")
	set.DurationVar(&o.InFlightWait, "in-flight-wait", 0, "PREPAID_RETRY_IN_FLIGHT_WAIT of the workers, a `duration` (default 750ms)")
	set.DurationVar(&o.Timeout, "timeout", 0, "`duration` of the run at most (default 5m)")
	if err := set.Parse(args); err != nil {
		return o, err
	}
	if o.Command = set.Args(); len(o.Command) == 0 {
		err := errors.New("prepaid-hostile: the worker's command is missing; -h explains")
		fmt.Fprintln(errOut, err)
		return o, err
	}
	return o, nil
}
