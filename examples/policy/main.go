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

const usage = `Policy keeps the policy of a card program in a YAML file: which merchant categories,
merchants and terminals have a rule.

Usage:
  policy                            demonstrate everything below, on an emulator
  policy export [flags]             write the program's policy as such a file
  policy plan [flags] file.yaml     show what would change; nothing is sent
  policy apply [flags] file.yaml    show it, ask, change it, read back and compare

For the service, set PREPAID_BASE_URL, PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or
production), PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE; the commands need them.

Exit status: 0 on success, 1 if something failed or was not confirmed, 2 if the command
line, the environment or the file is wrong (nothing was sent), and with
plan -detailed-exitcode 3 if there is something to change.

Flags of all three:
`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// exit statuses beyond 0 and 1.
const (
	exitInput   = 2
	exitChanges = 3 // terraform uses 2; here, 2 means a wrong command line
)

// errInput is a wrong command line, environment or file.
var errInput = errors.New("see -h")

// options are the flags.
type options struct {
	command     string
	file        string
	company     prepaid.CompanyID
	detailed    bool
	yes         bool
	ignoreTexts bool
	expect      string
	reason      string
}

// run does the work of main and returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	changes := false
	o, err := parse(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
	case o.command == "":
		err = demonstrate(ctx, out)
	default:
		changes, err = command(ctx, o, in, out)
	}
	_, invalid := errors.AsType[*prepaid.ValidationError](err)
	switch {
	case err == nil && changes && o.detailed:
		return exitChanges
	case err == nil:
		return 0
	}
	fmt.Fprintln(errOut, "policy:", err)
	if invalid || errors.Is(err, errInput) || errors.Is(err, errFile) || errors.Is(err, prepaid.ErrPolicyAction) {
		return exitInput
	}
	return 1
}

// command executes one command and reports whether it found something to change.
func command(ctx context.Context, o options, in io.Reader, out io.Writer) (changes bool, err error) {
	var d *document
	if o.command != "export" { // the file comes first: if it has a fault, nothing else starts
		text, err := os.ReadFile(o.file)
		if err != nil {
			return false, fmt.Errorf("%w: %w", errFile, err)
		}
		if d, err = readFile(text); err != nil {
			return false, err
		}
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return false, err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return false, err
	}
	defer client.Close() //nolint:errcheck // never fails
	s := &session{options: o, client: client, in: in, out: out}
	switch o.command {
	case "export":
		return false, s.export(ctx)
	case "plan":
		p, err := s.show(ctx, d)
		return err == nil && p.changes > 0, err
	}
	return false, s.apply(ctx, d)
}

func parse(args []string, errOut io.Writer) (options, error) {
	if len(args) == 0 {
		return options{}, nil
	}
	o := options{command: args[0]}
	flags := flag.NewFlagSet("policy", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.Int64Var((*int64)(&o.company), "company", 0, "export: ID of the program")
	flags.BoolVar(&o.detailed, "detailed-exitcode", false, "plan: exit with 3 if there is something to change")
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
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return o, err
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
