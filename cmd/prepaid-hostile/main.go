// Command prepaid-hostile tests a payment loop in any language: it runs copies of a worker against the emulator of package
// prepaidtest, injects failures, and compares every account with the orders.
//
//	go run github.com/cardprograms/prepaid/cmd/prepaid-hostile -h
package main

import (
	"context"
	"flag"
	"fmt"
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

Runs copies of a worker against an emulator of the service, injects failures, and compares every account with the orders. The
environment of a worker, and the meaning of the report and of the exit status:
https://github.com/cardprograms/prepaid/blob/main/docs/hostile.md

A number below 0 means none. Flags:
`

func main() {
	o := hostile.Options{Log: os.Stderr}
	flag.Usage = func() {
		fmt.Fprint(os.Stderr, usage)
		flag.PrintDefaults()
	}
	flag.Uint64Var(&o.Seed, "seed", 0, "faults follow from this `number`; 0 chooses one")
	flag.IntVar(&o.Payments, "payments", 0, "`number` of payments (default 100)")
	flag.BoolVar(&o.TransfersOnly, "transfers-only", false, "no direct entries")
	flag.IntVar(&o.Copies, "copies", 0, "`number` of workers at the same time; 1 for one that takes a lock (default 2)")
	flag.Float64Var(&o.Faults, "faults", 0, "`part` of the payments with faults, at most 1 (default 0.4)")
	flag.IntVar(&o.Kills, "kills", 0, "how `often` a worker is killed (default one in 10 payments)")
	flag.IntVar(&o.Freezes, "freezes", 0, "how `often` a worker is frozen (default one in 20 payments)")
	flag.DurationVar(&o.Freeze, "freeze", 0, "how `long` at least; choose more than a lease (default 2s)")
	flag.IntVar(&o.NetworkCuts, "network-cuts", 0, "how `often` the network of a worker is cut (default one in 20 payments)")
	flag.IntVar(&o.ServiceFreezes, "service-freezes", 0, "how `often` the service is frozen (default one in 50 payments, at most 10)")
	flag.DurationVar(&o.AttemptTimeout, "attempt-timeout", 0, "PREPAID_ATTEMPT_TIMEOUT of the workers, a `duration` (default 250ms)")
	flag.DurationVar(&o.InFlightWait, "in-flight-wait", 0, "PREPAID_RETRY_IN_FLIGHT_WAIT of the workers, a `duration` (default 750ms)")
	flag.DurationVar(&o.Timeout, "timeout", 0, "`duration` of the run at most (default 5m)")
	flag.Parse() // a wrong flag ends the program with exitUsage
	if o.Command = flag.Args(); len(o.Command) == 0 {
		fmt.Fprintln(os.Stderr, "prepaid-hostile: the worker's command is missing; -h explains")
		os.Exit(exitUsage)
	}
	os.Exit(run(o))
}

// run returns the exit status.
func run(options hostile.Options) int {
	ctx, release := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer release()
	report, err := hostile.Run(ctx, options)
	if err != nil {
		fmt.Fprintln(os.Stderr, "prepaid-hostile:", err)
		return exitUsage
	}
	_, printed := fmt.Print(report)
	switch {
	case len(report.Findings) > 0:
		return exitWrong
	case !report.OK() || printed != nil:
		return exitUnfinished
	}
	return exitSafe
}
