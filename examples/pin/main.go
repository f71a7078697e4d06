// Pin changes a card's PIN as a partner should: the PIN is sealed where it is typed, and the backend that calls the
// service never sees it. It uses an emulator inside this process by default, or the real service (see -h).
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

const usage = `Pin changes the PIN of a card. It plays both parts: the cardholder's device, where PIN and
one-time password are typed and sealed, and the partner's backend, which relays the envelopes.

Usage: pin [flags]

Without PREPAID_BASE_URL it shows a change, and what can go wrong with one, on an emulator
inside this process, and takes no flags. For the service, set PREPAID_BASE_URL,
PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production), PREPAID_CLIENT_ID and
PREPAID_CLIENT_SECRET_FILE, and give -account, -certificate, -device and -ip.

On a terminal it asks for the PIN (twice) and the one-time password without echo. From
anything else it reads two lines of standard input: first the new PIN, then, once it has
arrived, the one-time password. There is no flag or variable for them: other programs could see those.

Exit status: 0 the new PIN is valid, 1 the PIN is unchanged, 2 the command line or the
environment is wrong, 3 it is unknown which PIN is valid.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errInput is a wrong command line or environment.
var errInput = errors.New("see -h")

// options are the values of the flags.
type options struct {
	account     string
	certificate string
	device      string
	ip          string
	method      string
	hash        string
	mgf1        string
}

// run is main without the process: it returns the exit status. It uses the service of the environment, or demonstrates on an
// emulator.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	o, err := parse(args, errOut)
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
	case os.Getenv("PREPAID_BASE_URL") == "":
		if err = demonstrate(ctx, say); err == nil {
			return 0
		}
	default:
		var d *device
		var client *prepaid.Client
		if d, client, err = setUp(o, say); err == nil {
			defer client.Close() //nolint:errcheck // never fails
			d.keypad = newTyped(in, errOut)
			return conclude(d.changePIN(ctx), say, errOut)
		}
	}
	fmt.Fprintln(errOut, "pin:", err)
	if errors.Is(err, errInput) {
		return 2
	}
	return 1
}

// conclude prints the known state, and returns the exit status.
func conclude(err error, say func(string, ...any), errOut io.Writer) int {
	known, advice := advise(err)
	if err != nil {
		fmt.Fprintln(errOut, "pin:", err)
	}
	say("%s", advice)
	return map[verdict]int{pinChanged: 0, pinAsBefore: 1, pinUnknown: 3}[known]
}

func parse(args []string, errOut io.Writer) (options, error) {
	var o options
	flags := flag.NewFlagSet("pin", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // an error is one line; -h shows everything
	flags.StringVar(&o.account, "account", "", "EAID of the card")
	flags.StringVar(&o.certificate, "certificate", "", "file with the operator's certificate, PEM or DER")
	flags.StringVar(&o.device, "device", "", "id of the cardholder's device")
	flags.StringVar(&o.ip, "ip", "", "address of the cardholder's device")
	flags.StringVar(&o.method, "method", "sms", "how the one-time password is sent, in the operator's words")
	flags.StringVar(&o.hash, "hash", "SHA256", "hash of the envelope's OAEP: SHA256 or SHA512")
	flags.StringVar(&o.mgf1, "mgf1", "", "hash of its mask function, SHA1, SHA256 or SHA512; default that of -hash")
	err := flags.Parse(args)
	emulated := os.Getenv("PREPAID_BASE_URL") == ""
	switch {
	case errors.Is(err, flag.ErrHelp):
		flags.SetOutput(errOut)
		fmt.Fprint(errOut, usage)
		flags.PrintDefaults()
		return o, err
	case err != nil:
		return o, fmt.Errorf("%w: %w", errInput, err)
	case flags.NArg() > 0:
		return o, fmt.Errorf("%w: it takes flags only", errInput)
	case emulated && len(args) > 0:
		return o, fmt.Errorf("%w: flags need PREPAID_BASE_URL", errInput)
	case !emulated && (o.account == "" || o.certificate == "" || o.device == "" || o.ip == ""):
		return o, fmt.Errorf("%w: -account, -certificate, -device and -ip are required", errInput)
	}
	return o, nil
}

// setUp creates the two parts and connects them.
func setUp(o options, say func(string, ...any)) (*device, *prepaid.Client, error) {
	certificate, err := os.ReadFile(o.certificate)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: -certificate: %w", errInput, err)
	}
	key, err := newKey(o, certificate, say)
	if err != nil {
		return nil, nil, err
	}
	config, err := prepaid.ConfigFromEnv()
	var client *prepaid.Client
	if err == nil {
		client, err = prepaid.NewClient(config)
	}
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", errInput, err)
	}
	b := &backend{client: client, account: prepaid.AccountID(o.account), deviceID: o.device, ipAddress: o.ip, method: o.method}
	return &device{key: key, relay: b, say: say}, client, nil
}

// newKey reads the operator's certificate. Get the file from the operator through a channel you trust: anyone who can
// change the file can read the PINs.
func newKey(o options, certificate []byte, say func(string, ...any)) (*prepaid.PINKey, error) {
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{Hash: prepaid.PINHash(o.hash), MGF1Hash: o.mgf1})
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	say("certificate %s, valid until %s", key.Fingerprint(), key.NotAfter().Format(time.DateOnly))
	return key, nil
}
