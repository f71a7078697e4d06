// Payouts pays each order of a web application once, from any number of machines. Without arguments it demonstrates
// this with a Postgres and an emulator that it starts itself (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"syscall"
)

const usage = `Payouts takes orders over HTTP and pays each of them once, whatever is killed meanwhile.

  payouts              demonstration with its own Postgres, which must be installed, and an emulator
  payouts web [flags]  takes orders: POST /orders, on as many machines as you like
  payouts work         pays them, on as many machines as you like

For web and work, set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production),
PREPAID_CLIENT_ID, PREPAID_CLIENT_SECRET_FILE, and

  PREPAID_FLOAT_ACCOUNT     EAID of the paying account
  PREPAID_PAYOUTS_DATABASE  address of the Postgres database
  PREPAID_PAYOUTS_KEY_FILE  a file with the key of what is encrypted in the database, 64
                            hex digits; losing it loses the payments
  PREPAID_PAYOUTS_CALL      limit of a payment with all its repeats, such as 2m, the default

Exit status: 0 ended by a signal, or each order is paid once; 1 the comparison found differences; 2 nothing was
started: the command line or environment is wrong, or there is no Postgres; 3 ended early.

`

const exitDone, exitDifferent, exitWrong, exitUnfinished = 0, 1, 2, 3

// errWrong means that the program could not start.
var errWrong = errors.New("nothing was started")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run does the work of main, and returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	err := runPart(ctx, args, out, errOut)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return exitDone
	}
	fmt.Fprintln(errOut, "payouts:", err)
	switch {
	case errors.Is(err, errWrong):
		return exitWrong
	case errors.Is(err, errDifferent):
		return exitDifferent
	}
	return exitUnfinished
}

func runPart(ctx context.Context, args []string, out, errOut io.Writer) error {
	part, listen, err := parse(args, errOut)
	if err == nil && part == "" {
		return demonstrate(ctx, out)
	}
	var s settings
	if err == nil {
		s, err = settingsFromEnv()
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errWrong, err)
	}
	if part == "work" {
		return work(ctx, s)
	}
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return fmt.Errorf("%w: -listen: %w", errWrong, err)
	}
	return serve(ctx, s, listener)
}

// parse returns the part to run, which is empty for the demonstration, and the address for the part web.
func parse(args []string, errOut io.Writer) (part, listen string, err error) {
	if len(args) > 0 && (args[0] == "web" || args[0] == "work") {
		part, args = args[0], args[1:]
	}
	flags := flag.NewFlagSet("payouts", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	if part == "web" {
		flags.StringVar(&listen, "listen", "127.0.0.1:8080", "`address`; put your own authentication, TLS and limits in front of it")
	}
	err = flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = errors.New("it takes web, work, or no argument; see -h")
	case part == "" && os.Getenv("PREPAID_BASE_URL") != "":
		err = errors.New("PREPAID_BASE_URL names a service; the demonstration uses its own emulator: run web and work")
	}
	return part, listen, err
}
