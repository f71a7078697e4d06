// Webhook is a complete receiver: it registers itself, handles each message once, and drains the messages that it
// missed. It uses an emulator inside this process by default, or the real service (see -h).
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

const usage = `Webhook receives the messages of a card program, books each once, and drains undelivered messages.

Without PREPAID_BASE_URL it demonstrates this on an emulator inside this process, ends, and takes no
flags. For the service, set also PREPAID_VENDOR, PREPAID_ENVIRONMENT (test or production),
PREPAID_CLIENT_ID and PREPAID_CLIENT_SECRET_FILE, and give the flags below. It runs until Ctrl+C.
Draining is final, the service forgets drained messages: pass the same file of -books at each start.

Exit status: 0 on success, 1 if something failed, 2 if the command line or the environment is wrong.

`

// errSetup means that the command line or the environment is wrong.
var errSetup = errors.New("see -h")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// run returns the exit status.
func run(ctx context.Context, args []string, out, errOut io.Writer) int {
	// The emulator's form of signatures. The operator defines the service's form.
	form := webhook.HMAC{Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded}
	r := &receiver{form: form, keys: webhook.StaticKeys{}, every: 5 * time.Minute, say: log.New(out, "", 0)}
	r.want = prepaid.CreateHookParams{
		FilterSpec: prepaid.FilterAll, Enabled: true, ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable,
	}
	err := receive(ctx, r, args, errOut)
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "webhook:", err)
	if _, invalid := errors.AsType[*prepaid.ValidationError](err); invalid || errors.Is(err, errSetup) {
		return 2
	}
	return 1
}

// receive receives from the real service until ctx ends, or demonstrates this.
func receive(ctx context.Context, r *receiver, args []string, errOut io.Writer) error {
	if len(args) == 0 && os.Getenv("PREPAID_BASE_URL") == "" {
		return demonstrate(ctx, r)
	}
	listen, err := parse(r, args, errOut)
	if err != nil {
		return fmt.Errorf("%w: %w", errSetup, err)
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	if r.client, err = prepaid.NewClient(config); err != nil {
		return err
	}
	defer r.client.Close() //nolint:errcheck // never fails
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", listen)
	if err != nil {
		return err
	}
	return r.serve(ctx, listener, func() { r.say.Printf("listening on %s, stop with Ctrl+C", listen) })
}

func parse(r *receiver, args []string, errOut io.Writer) (listen string, err error) {
	flags := flag.NewFlagSet("webhook", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.StringVar(&listen, "listen", "127.0.0.1:8080", "address to listen on with plain HTTP, behind a proxy that terminates TLS")
	flags.StringVar(&r.want.URI, "uri", "", "https address at which the service reaches this receiver")
	r.want.Scope = make([]prepaid.CompanyID, 1)
	flags.Int64Var((*int64)(&r.want.Scope[0]), "company", 0, "ID of the company to watch")
	flags.StringVar(&r.file, "books", "", "file in which messages are booked, created if missing; required")
	flags.StringVar(&r.want.HMACKeyID, "key-id", "", "ID of the HMAC key; a new key needs a new ID")
	flags.Func("key-file", "file with the HMAC key, 64 hex characters", func(name string) (err error) {
		r.want.HMACKeySecret, err = readKey(name)
		return err
	})
	flags.Func("old-key", "id=file of the hook's previous key, while the key changes", func(text string) (err error) {
		id, name, _ := strings.Cut(text, "=")
		r.keys[id], err = readKey(name)
		return err
	})
	flags.StringVar(&r.form.Header, "header", r.form.Header, "header with the signature")
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	err = flags.Parse(args)
	switch {
	case err != nil:
	case flags.NArg() > 0:
		err = errors.New("it takes flags only")
	case r.file == "":
		err = errors.New("-books is required: the service forgets drained messages")
	}
	return listen, err
}

func readKey(name string) (prepaid.Secret, error) {
	text, err := os.ReadFile(name)
	return prepaid.NewSecret(strings.TrimSpace(string(text))), err
}
