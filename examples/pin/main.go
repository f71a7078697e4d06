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

const usage = `Pin changes the PIN of a card. It plays both parts: the cardholder's device, where PIN and one-time
password are typed and sealed, and the partner's backend, which relays the envelopes.

Without PREPAID_BASE_URL it demonstrates this on an emulator, and takes no flags. For the service, set also
PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production), PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and
give -account, -certificate, -device and -ip. It asks for the new PIN and the one-time password without echo, or
reads two lines of standard input.

Exit status: 0 the new PIN is valid, 1 the PIN is unchanged, 2 the command line or the environment is wrong, 3 it
is unknown which PIN is valid.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// errInput means that the command line or the environment is wrong.
var errInput = errors.New("see -h")

// options are the values of the flags.
type options struct {
	backend

	certificate string
	key         prepaid.PINKeyOptions
}

// run returns the exit status.
func run(ctx context.Context, args []string, in io.Reader, out, errOut io.Writer) int {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	o, err := parse(args, errOut)
	if err == nil && os.Getenv("PREPAID_BASE_URL") != "" {
		var d *device
		if d, err = setUp(o, say); err == nil {
			defer o.client.Close() //nolint:errcheck // never fails
			d.keypad = newTyped(in, errOut)
			return conclude(d.changePIN(ctx), say, errOut)
		}
	} else if err == nil {
		err = demonstrate(ctx, say)
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
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

func parse(args []string, errOut io.Writer) (*options, error) {
	o := &options{key: prepaid.PINKeyOptions{Hash: prepaid.PINHashSHA256}}
	flags := flag.NewFlagSet("pin", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	flags.StringVar((*string)(&o.account), "account", "", "EAID of the card")
	flags.StringVar(&o.certificate, "certificate", "", "file with the operator's certificate, PEM or DER")
	flags.StringVar(&o.deviceID, "device", "", "id of the cardholder's device")
	flags.StringVar(&o.ipAddress, "ip", "", "address of the cardholder's device")
	flags.StringVar(&o.method, "method", "sms", "how the one-time password is sent, in the operator's words")
	flags.StringVar((*string)(&o.key.Hash), "hash", string(o.key.Hash), "hash of the envelope's OAEP: SHA256 or SHA512")
	flags.StringVar(&o.key.MGF1Hash, "mgf1", "", "hash of its mask function, SHA1, SHA256 or SHA512; default that of -hash")
	err := flags.Parse(args)
	emulated := os.Getenv("PREPAID_BASE_URL") == ""
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = errors.New("it takes flags only")
	case emulated && len(args) > 0:
		err = errors.New("flags need PREPAID_BASE_URL")
	case !emulated && (o.account == "" || o.certificate == "" || o.deviceID == "" || o.ipAddress == ""):
		err = errors.New("-account, -certificate, -device and -ip are required")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	return o, nil
}

// setUp creates the two parts and connects them.
func setUp(o *options, say func(string, ...any)) (*device, error) {
	certificate, err := os.ReadFile(o.certificate)
	if err != nil {
		return nil, fmt.Errorf("%w: -certificate: %w", errInput, err)
	}
	key, err := newKey(o.key, certificate, say)
	if err != nil {
		return nil, err
	}
	config, err := prepaid.ConfigFromEnv()
	if err == nil {
		o.client, err = prepaid.NewClient(config)
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	return &device{key: key, relay: &o.backend, say: say}, nil
}

// newKey reads the operator's certificate. Get the file from the operator through a channel you trust: anyone who can
// change the file can read the PINs.
func newKey(o prepaid.PINKeyOptions, certificate []byte, say func(string, ...any)) (*prepaid.PINKey, error) {
	key, err := prepaid.NewPINKey(certificate, o)
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errInput, err)
	}
	say("certificate %s, valid until %s", key.Fingerprint(), key.NotAfter().Format(time.DateOnly))
	return key, nil
}
