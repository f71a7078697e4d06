// Quickstart issues cards, moves money and shows the result of each call. By default it uses an emulator inside this process; it
// can use the real test environment instead (see -h).
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

const usage = `Quickstart does the main job of a card program, in ten steps: on an emulator inside this process, or on the
service's test environment. For that, set

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

To run it again after an error, pass -again and the same -day. Exit status: 0 if everything was done, 1 if a step
failed or was interrupted, 2 if the command line or the environment is wrong.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	q := &quickstart{out: out, day: prepaid.DateOf(time.Now())}
	defer q.tearDown()
	err, status := q.parse(args, errOut), 2
	if err == nil {
		err = q.setUp()
	}
	if err == nil {
		err, status = q.do(ctx), 1
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "quickstart:", err)
	return status
}

func (q *quickstart) parse(args []string, errOut io.Writer) error {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	flags.TextVar(&q.day, "day", q.day, "day of the loads: a card is loaded once per day; default today")
	flags.BoolVar(&q.again, "again", false, "an earlier run may have issued cards: search longer before creating any")
	flags.DurationVar(&q.pause, "pause", 45*time.Second, "wait between simulated actions on the real test environment")
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = errors.New("it takes flags only; see -h")
	}
	return err
}
