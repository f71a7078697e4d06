// Pin changes a card's PIN: the PIN is sealed where it is typed, and the backend that calls the service never sees it.
//
//	pin EA52174568995001 operator.pem device-1 203.0.113.7
//
// The arguments are the card, a file with the operator's certificate, and the cardholder's device and address. Without PREPAID_BASE_URL, it
// changes a PIN on an emulator inside this process.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, os.Args[1:])
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context, args []string) error {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return emulate(ctx)
	}
	if len(args) != 4 {
		return errors.New("usage: pin ACCOUNT CERTIFICATE DEVICE ADDRESS")
	}
	// Get the file from the operator through a channel you trust: anyone who can change it can read the PINs.
	certificate, err := os.ReadFile(args[1])
	if err != nil {
		return err
	}
	config, err := prepaid.ConfigFromEnv()
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(config)
	if err != nil {
		return err
	}
	b := &backend{client: client, params: prepaid.InitiatePINParams{
		AccountID: prepaid.AccountID(args[0]), DeviceID: args[2], IPAddress: args[3], CommunicationMethod: "sms",
	}}
	return errors.Join(change(ctx, certificate, b, typed), client.Close())
}

// change changes the PIN and prints the advice.
func change(ctx context.Context, certificate []byte, b *backend, ask func(prompt, operation string) (prepaid.Secret, error)) error {
	key, err := prepaid.NewPINKey(certificate, prepaid.PINKeyOptions{})
	if err != nil {
		return err
	}
	err = (&device{key: key, relay: b, ask: ask}).changePIN(ctx)
	fmt.Println(advise(err))
	return err
}

// typed reads a line without echo; Ctrl+C takes effect after Enter. A PIN is never an argument or a variable: other programs see these.
func typed(prompt, _ string) (prepaid.Secret, error) {
	fmt.Fprint(os.Stderr, prompt)
	line, err := term.ReadPassword(int(os.Stdin.Fd()))
	fmt.Fprintln(os.Stderr)
	return prepaid.NewSecret(string(line)), err
}

// emulate changes the PIN of a card on an emulator, whose cardholder gets the one-time password.
func emulate(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	b := &backend{client: srv.Client(), params: prepaid.InitiatePINParams{
		AccountID: srv.AddAccount(prepaidtest.SeedAccount{}), DeviceID: "device-1", IPAddress: "203.0.113.7", CommunicationMethod: "sms",
	}}
	return change(ctx, srv.PINCertificate(), b, func(_, operation string) (prepaid.Secret, error) {
		if operation == "" {
			return prepaid.NewSecret("4821"), nil
		}
		return prepaid.NewSecret(srv.OTP(operation)), nil
	})
}
