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

const exitInput = 2

// errInput means that the command line, the environment or the file is wrong.
var errInput = errors.New("see -h")

// options are the flags.
type options struct {
	command     string
	file        string
	company     prepaid.CompanyID
	yes         bool
	ignoreTexts bool
	expect      string
	reason      string
}

// run returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	o, err := parse(args, errOut)
	if err == nil && o.command == "" {
		err = demonstrate(ctx, out)
	} else if err == nil {
		err = command(ctx, o, in, out)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "policy:", err)
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	if invalid || errors.Is(err, errInput) || errors.Is(err, errFile) {
		return exitInput
	}
	return 1
}

func command(ctx context.Context, o options, in io.Reader, out io.Writer) error {
	var d *document
	if o.command != "export" { // the file comes first: if it has a fault, nothing else starts
		text, err := os.ReadFile(o.file)
		if err != nil {
			return fmt.Errorf("%w: %w", errFile, err)
		}
		if d, err = readFile(text); err != nil {
			return err
		}
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
	s := &session{options: o, client: client, in: in, out: out}
	switch o.command {
	case "export":
		return s.export(ctx)
	case "plan":
		_, err := s.show(ctx, d)
		return err
	}
	return s.apply(ctx, d)
}

func parse(args []string, errOut io.Writer) (options, error) {
	if len(args) == 0 {
		return options{}, nil
	}
	o := options{command: args[0]}
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
	switch o.command {
	case "export", "plan", "apply":
		args = args[1:]
	default:
		o.command = ""
	}
	err := flags.Parse(args)
	switch {
	case err != nil:
		return o, fmt.Errorf("%w: %w", errInput, err)
	case o.command == "":
		return o, fmt.Errorf("%w: the command is export, plan or apply", errInput)
	case o.command == "export" && (flags.NArg() != 0 || o.company == 0):
		return o, fmt.Errorf("%w: export needs -company, and takes no file", errInput)
	case o.command != "export" && flags.NArg() != 1:
		return o, fmt.Errorf("%w: %s takes one file, after the flags", errInput, o.command)
	case os.Getenv("PREPAID_BASE_URL") == "":
		return o, fmt.Errorf("%w: PREPAID_BASE_URL is not set", errInput)
	}
	o.file = flags.Arg(0)
	return o, nil
}
