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
give -account, -certificate, -device and -ip. It asks for the new PIN and the one-time password without echo.

Exit status: 0 the new PIN is valid, 1 the PIN is unchanged, 2 the command line or the environment is wrong, 3 it
is unknown which PIN is valid.

`

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], terminal{os.Stdin, os.Stderr}, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// options are the values of the flags.
type options struct {
	backend

	certificate string
	key         prepaid.PINKeyOptions
}

// run returns the exit status.
func run(ctx context.Context, args []string, keypad keypad, out, errOut io.Writer) int {
	say := func(format string, args ...any) { fmt.Fprintf(out, format+"\n", args...) }
	if len(args) == 0 && os.Getenv("PREPAID_BASE_URL") == "" {
		if err := demonstrate(ctx, say, out); err != nil {
			fmt.Fprintln(errOut, "pin:", err)
			return 1
		}
		return 0
	}
	o, err := parse(args, errOut)
	var d *device
	if err == nil {
		d, err = o.connect(keypad, say)
	}
	switch {
	case errors.Is(err, flag.ErrHelp):
		return 0
	case err != nil:
		fmt.Fprintln(errOut, "pin: see -h:", err)
		return 2
	}
	defer o.client.Close() //nolint:errcheck // never fails
	return conclude(d.changePIN(ctx), say, errOut)
}

// conclude prints the known state, and returns the exit status.
func conclude(err error, say func(string, ...any), errOut io.Writer) int {
	known, advice := advise(err)
	if err != nil {
		fmt.Fprintln(errOut, "pin:", err)
	}
	say("%s", advice)
	return map[pinState]int{pinChanged: 0, pinAsBefore: 1, pinUnknown: 3}[known]
}

func parse(args []string, errOut io.Writer) (*options, error) {
	o := &options{}
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
	flags.StringVar((*string)(&o.key.Hash), "hash", "SHA256", "hash of the envelope's OAEP: SHA256 or SHA512")
	flags.StringVar(&o.key.MGF1Hash, "mgf1", "", "hash of its mask function, SHA1, SHA256 or SHA512; default that of -hash")
	err := flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = errors.New("it takes flags only")
	case o.account == "" || o.certificate == "" || o.deviceID == "" || o.ipAddress == "":
		err = errors.New("-account, -certificate, -device and -ip are required")
	}
	return o, err
}

// connect creates the client of the backend, and the device that uses the backend.
func (o *options) connect(keypad keypad, say func(string, ...any)) (*device, error) {
	certificate, err := os.ReadFile(o.certificate)
	if err != nil {
		return nil, fmt.Errorf("-certificate: %w", err)
	}
	key, err := newKey(o.key, certificate, say)
	if err != nil {
		return nil, err
	}
	config, err := prepaid.ConfigFromEnv()
	if err == nil {
		o.client, err = prepaid.NewClient(config)
	}
	return &device{key: key, keypad: keypad, relay: &o.backend, say: say}, err
}

// newKey reads the operator's certificate. Get the file from the operator through a channel you trust: anyone who can
// change the file can read the PINs.
func newKey(o prepaid.PINKeyOptions, certificate []byte, say func(string, ...any)) (*prepaid.PINKey, error) {
	key, err := prepaid.NewPINKey(certificate, o)
	if err == nil {
		say("certificate %s, valid until %s", key.Fingerprint(), key.NotAfter().Format(time.DateOnly))
	}
	return key, err
}
