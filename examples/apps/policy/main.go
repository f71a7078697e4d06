// Policy keeps a program's policy as a file: it shows the changes that a file would make, makes them, and checks the result. It
// uses an emulator inside this process by default, or the real service (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/cardprograms/prepaid"
)

const usage = `Policy keeps the policy of a card program in a YAML file. Without a command it demonstrates this on an emulator.

  policy export -company 42         write the program's policy as such a file
  policy plan [flags] file.yaml     show what would change; nothing is sent
  policy apply [flags] file.yaml    show it, ask, change it, read back and compare

For these commands set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production),
PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE.

Exit status: 0 on success, 1 if something failed or was not confirmed, 2 if the command line, the environment or
the file is wrong (nothing was sent).

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errInput means that the command line or the file is wrong.
var errInput = errors.New("invalid input")

// options are the flags.
type options struct {
	command, file, expect, reason string
	company                       prepaid.CompanyID
	yes, ignoreTexts              bool
}

// run returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	err := command(ctx, args, in, out, errOut)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "policy:", err)
	if _, invalid := errors.AsType[*prepaid.ValidationError](err); invalid || errors.Is(err, errInput) {
		return 2
	}
	return 1
}

func command(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) error {
	if len(args) == 0 {
		return demonstrate(ctx, out)
	}
	o, err := parse(args, errOut)
	if err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	defer client.Close() //nolint:errcheck // never fails
	confirm := func(ctx context.Context) error { return ask(ctx, in, out) }
	s := &session{options: o, client: client, confirm: confirm, out: out}
	if o.command == "export" {
		return s.export(ctx)
	}
	text, err := os.ReadFile(o.file)
	if err != nil {
		return fmt.Errorf("%w: %w", errInput, err)
	}
	d, err := readFile(text)
	switch {
	case err != nil:
		return err
	case o.command == "plan":
		_, err = s.show(ctx, d)
		return err
	}
	return s.apply(ctx, d)
}

func parse(args []string, errOut io.Writer) (o options, err error) {
	flags := flag.NewFlagSet("policy", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	flags.Int64Var((*int64)(&o.company), "company", 0, "export: ID of the program")
	flags.BoolVar(&o.ignoreTexts, "ignore-texts", false, "plan, apply: ignore differences that are only in a text")
	flags.BoolVar(&o.yes, "yes", false, "apply: do not ask")
	flags.StringVar(&o.expect, "expect", "", "apply: digest of the reviewed plan; any other plan is refused")
	flags.StringVar(&o.reason, "reason", "", "apply: stored by the service with each change")
	if !strings.HasPrefix(args[0], "-") {
		o.command, args = args[0], args[1:]
	}
	err = flags.Parse(args)
	o.file = flags.Arg(0)
	switch {
	case err != nil:
	case o.command == "export" && o.company != 0 && flags.NArg() == 0:
	case (o.command == "plan" || o.command == "apply") && flags.NArg() == 1:
	default:
		err = errors.New("it takes export -company, or plan or apply with one file after the flags; see -h")
	}
	return o, err
}
