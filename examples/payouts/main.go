// Payouts pays the orders of a web application from any number of machines, each once: with Postgres, an emulator of the
// service and three workers that it starts itself by default, or on the real test environment (see -h).
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
)

const usage = `Payouts takes orders over HTTP and pays each of them once, whatever is killed meanwhile.

Usage:
  payouts [flags]      demonstration: starts Postgres, an emulator, a web process and three
                       workers, kills them, and proves that each order was paid once
  payouts web [flags]  takes orders: POST /orders, on as many machines as you like
  payouts work         pays them, on as many machines as you like

On a terminal the demonstration shows what happens and has a key for each accident, until
q. Otherwise it causes the accidents itself, prints lines, and ends after half a minute.

For the service, set

  PREPAID_BASE_URL            https://.../3.0/; without it: the emulator
  PREPAID_VENDOR              the word in application/vnd.<vendor>+json
  PREPAID_ENVIRONMENT         test or production; the demonstration takes test only
  PREPAID_CLIENT_ID           OAuth client ID
  PREPAID_CLIENT_SECRET_FILE  a file with the secret (or PREPAID_CLIENT_SECRET); never a flag
  PREPAID_FLOAT_ACCOUNT       EAID of the paying account
  PREPAID_PAYOUTS_PAYEES      EAIDs of accounts to pay in the demonstration, with commas
  PREPAID_PAYOUTS_KEY_FILE    a file with the key of what is encrypted in the database, 64
                              hex digits (or PREPAID_PAYOUTS_KEY); losing it loses the payments
  PREPAID_PAYOUTS_CALL        limit of a payment with all its repeats, such as 2m, the default

PREPAID_PAYOUTS_DATABASE or DATABASE_URL names the database. Without it the demonstration
starts its own Postgres, which must be installed; with it and the emulator, it creates a
database next to the named one and drops it at the end.

Exit status:
  0  each order is paid once, and the books agree
  1  they do not: the output lists each difference
  2  nothing was started: the command line or environment is wrong, or there is no Postgres
  3  ended before everything was paid or compared: nothing is proven

`

// Exit statuses.
const (
	exitProven     = 0
	exitDifferent  = 1
	exitWrong      = 2
	exitUnfinished = 3
)

// errWrong prevents the start.
var errWrong = errors.New("nothing was started")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, in *os.File, out, errOut io.Writer) int {
	said := &output{to: out}
	code, err := runOn(ctx, args, in, said, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return exitProven
	case err != nil:
		fmt.Fprintln(errOut, "payouts:", err)
	case said.err != nil && code == exitProven:
		fmt.Fprintln(errOut, "payouts: the output could not be written:", said.err)
		return exitUnfinished
	}
	return code
}

func runOn(ctx context.Context, args []string, in *os.File, out *output, errOut io.Writer) (int, error) {
	part, rest := "", args
	if len(args) > 0 && args[0] != "" && args[0][0] != '-' {
		part, rest = args[0], args[1:]
	}
	o, err := parse(part, rest, errOut)
	if err != nil {
		return exitWrong, err
	}
	switch part {
	case "web", "work":
		s, err := settingsFromEnv()
		if err != nil {
			return exitWrong, err
		}
		ctx, report, release := supervised(ctx, o.supervised, in, out)
		defer release()
		if part == "web" {
			err = serve(ctx, s, o.listen, report)
		} else {
			err = work(ctx, s, report)
		}
		return status(err), err
	}
	return demonstrate(ctx, o, in, out, errOut)
}

// status returns the exit status of a part.
func status(err error) int {
	switch {
	case err == nil:
		return exitProven
	case errors.Is(err, errWrong):
		return exitWrong
	}
	return exitUnfinished
}

// options are the flags.
type options struct {
	listen     string
	orders     int
	log        string
	supervised bool
}

func parse(part string, args []string, errOut io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("payouts", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	switch part {
	case "":
		flags.IntVar(&o.orders, "orders", 0, "`number` of orders; default 600 (30 on the service), on a terminal until q")
		flags.StringVar(&o.log, "log", "", "`file` for the logs of the processes; they are not kept by default")
	case "web":
		flags.StringVar(&o.listen, "listen", "127.0.0.1:8080", "`address`; behind your own authentication, TLS and limits")
		fallthrough
	case "work":
		flags.BoolVar(&o.supervised, "supervised", false, "for the demonstration: end with standard input, report on standard output")
	default:
		return o, fmt.Errorf("%w: there is web, work, or no word at all; see -h", errWrong)
	}
	err := flags.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w: %w; see -h", errWrong, err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("%w: flags only; see -h", errWrong)
	case o.orders < 0:
		return o, fmt.Errorf("%w: -orders must not be negative", errWrong)
	}
	return o, nil
}
