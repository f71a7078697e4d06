// Quickstart issues cards, moves money and shows what each call did: on an emulator inside this process by default,
// or on the real test environment (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"time"
)

const usage = `Quickstart does the main job of a card program: it issues a card to each line of a CSV
file, activates and loads them, buys, transfers, reads the history, changes the program's
policy, runs a report, changes a PIN, receives a webhook and resolves a lost answer.

Usage: quickstart [-cardholders file.csv] [-pause 45s]

Without PREPAID_BASE_URL it runs against an emulator inside this process: nothing leaves
the machine. To run it against the service's test environment, set

  PREPAID_BASE_URL            https://.../3.0/
  PREPAID_VENDOR              the word in application/vnd.<vendor>+json
  PREPAID_CLIENT_ID           OAuth client id
  PREPAID_CLIENT_SECRET_FILE  a file with the secret (or PREPAID_CLIENT_SECRET); never a flag
  PREPAID_COMPANY_ID          the program
  PREPAID_PROGRAM_CLIENT_ID   the client_id of the program's accounts
  PREPAID_FLOAT_ACCOUNT       EAID of the account that pays for the loads
  PREPAID_REPORT_TEMPLATE     optional: name of a report template
  PREPAID_PIN_CERTIFICATE     optional: file with the operator's certificate

Exit status: 0 when everything was done, 1 when a line was refused or a step failed,
2 when the command line or the environment is wrong.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run is main without the process: it returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	flags := flag.NewFlagSet("quickstart", flag.ContinueOnError)
	flags.SetOutput(errOut)
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
	}
	file := flags.String("cardholders", "", "CSV file of cardholders; a shipped one when empty")
	pause := flags.Duration("pause", 45*time.Second, "wait between simulated actions on the real test environment")
	if err := flags.Parse(args); err != nil {
		if errors.Is(err, flag.ErrHelp) {
			return 0
		}
		return 2
	}
	rows, err := readCardholders(*file)
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	}
	q, err := setUp(out, *pause)
	if err != nil {
		fmt.Fprintln(errOut, "quickstart:", err)
		return 2
	}
	defer q.tearDown()
	ctx, cancel := context.WithTimeout(ctx, 30*time.Minute)
	defer cancel()
	q.do(ctx, rows)
	q.farewell()
	if q.failures > 0 {
		return 1
	}
	return 0
}
