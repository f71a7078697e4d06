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
	"strconv"
	"strings"
	"syscall"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

const usage = `Webhook receives the messages of a card program: it keeps its hook registered, checks each
signature, handles each message once, and drains what could not be delivered.

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
	r, err := fromFlags(args, errOut)
	switch {
	case err != nil:
	case os.Getenv("PREPAID_BASE_URL") != "":
		r.say = log.New(out, "", 0)
		err = serve(ctx, r)
	case len(args) > 0:
		err = fmt.Errorf("%w: flags need PREPAID_BASE_URL", errSetup)
	default:
		err = demonstrate(ctx, log.New(out, "", 0))
	}
	if err == nil || errors.Is(err, flag.ErrHelp) {
		return 0
	}
	fmt.Fprintln(errOut, "webhook:", err)
	if _, invalid := errors.AsType[*prepaid.ValidationError](err); invalid || errors.Is(err, errSetup) {
		return 2
	}
	return 1
}

// serve receives from the real service until ctx ends.
func serve(ctx context.Context, r *receiver) (err error) {
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	if r.client, err = prepaid.NewClient(config); err != nil {
		return err
	}
	defer func() { _ = r.client.Close() }()
	if r.file == "" {
		return fmt.Errorf("%w: -books is required: the service forgets drained messages", errSetup)
	}
	if r.books, err = openBooks(r.file, r.say); err != nil {
		return fmt.Errorf("%w: the books cannot be opened: %w", errSetup, err)
	}
	defer func() { err = errors.Join(err, r.books.close()) }()
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", r.listen)
	if err != nil {
		return err
	}
	stop, err := r.start(ctx, listener)
	if err != nil {
		return err
	}
	r.say.Printf("listening on %s, stop with Ctrl+C", r.listen)
	select {
	case <-ctx.Done():
	case err = <-r.lost:
	}
	err = errors.Join(err, stop())
	r.say.Print(r.books)
	return err
}

// newReceiver returns a receiver for the emulator's form of signatures. The operator defines the service's form: set the field "form".
func newReceiver() *receiver {
	return &receiver{
		form: webhook.HMAC{Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded}, old: webhook.StaticKeys{},
		want: prepaid.CreateHookParams{
			FilterSpec: prepaid.FilterAll, Enabled: true, ReliabilityMode: prepaid.ReliabilityModeStoreUndeliverable,
		},
	}
}

func fromFlags(args []string, errOut io.Writer) (*receiver, error) {
	r := newReceiver()
	flags := flag.NewFlagSet("webhook", flag.ContinueOnError)
	flags.SetOutput(io.Discard) // run prints the error
	flags.StringVar(&r.listen, "listen", "127.0.0.1:8080", "address to listen on, with plain HTTP: put a proxy that terminates TLS in front of it")
	flags.StringVar(&r.want.URI, "uri", "", "https address at which the service reaches this receiver")
	flags.Func("company", "ID of a company to watch; may be repeated", func(text string) error {
		id, err := strconv.ParseInt(text, 10, 64)
		r.want.Scope = append(r.want.Scope, prepaid.CompanyID(id))
		return err
	})
	flags.StringVar(&r.file, "books", "", "file in which messages are booked, created if missing; required")
	flags.StringVar(&r.want.HMACKeyID, "key-id", "", "ID of the HMAC key; a new key needs a new ID")
	flags.Func("key-file", "file with the HMAC key, 64 hex characters", func(name string) (err error) {
		r.want.HMACKeySecret, err = readKey(name)
		return err
	})
	flags.Func("old-key", "id=file of the hook's previous key, while the key changes", func(text string) error {
		id, name, _ := strings.Cut(text, "=")
		key, err := readKey(name)
		r.old[id] = key
		return err
	})
	flags.StringVar(&r.form.Header, "header", r.form.Header, "header with the signature")
	flags.StringVar((*string)(&r.alert), "alert-type", "", "type of the undeliverable alert, which starts a drain")
	flags.Usage = func() {
		fmt.Fprint(errOut, usage)
		flags.SetOutput(errOut)
		flags.PrintDefaults()
	}
	err := flags.Parse(args)
	if err == nil && flags.NArg() > 0 {
		err = errors.New("it takes flags only")
	}
	if err != nil {
		return nil, fmt.Errorf("%w: %w", errSetup, err)
	}
	return r, nil
}

func readKey(name string) (prepaid.Secret, error) {
	text, err := os.ReadFile(name)
	return prepaid.NewSecret(strings.TrimSpace(string(text))), err
}
