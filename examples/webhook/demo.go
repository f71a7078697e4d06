package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/hex"
	"errors"
	"net"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// demonstrate runs a receiver against an emulator that duplicates, repeats and loses messages.
func demonstrate(ctx context.Context, r *receiver) error {
	local := httptest.NewTLSServer(nil) // only for its certificate; in production a proxy terminates TLS
	local.Close()
	roots := x509.NewCertPool()
	roots.AddCert(local.Certificate())
	emulator, err := prepaidtest.Start(prepaidtest.Options{WebhookRoots: roots, DeliveryRetries: []time.Duration{time.Minute}})
	if err != nil {
		return err
	}
	defer emulator.Close() //nolint:errcheck // its data is not needed any more
	directory, err := os.MkdirTemp("", "webhook")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // a temporary directory
	r.file, r.client, r.every = filepath.Join(directory, "books.jsonl"), emulator.Client(), 50*time.Millisecond
	r.want.Scope = []prepaid.CompanyID{prepaidtest.DefaultCompany}
	d := &demo{receiver: r, emulator: emulator, account: emulator.AddAccount(prepaidtest.SeedAccount{}), tls: local.TLS}
	return d.steps(ctx)
}

type demo struct {
	*receiver

	emulator *prepaidtest.Server
	account  prepaid.AccountID
	tls      *tls.Config
}

// during starts the receiver with a new key, calls do, then stops the receiver. The first call picks a free port for all calls.
func (d *demo) during(ctx context.Context, keyID string, do func() error) error {
	d.want.HMACKeyID, d.want.HMACKeySecret = keyID, newKey()
	address := cmp.Or(strings.TrimPrefix(d.want.URI, "https://"), "127.0.0.1:0")
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", address)
	if err != nil {
		return err
	}
	d.want.URI = "https://" + listener.Addr().String()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	done := make(chan error, 1)
	err = d.serve(ctx, tls.NewListener(listener, d.tls), func() {
		go func() {
			done <- do()
			stop()
		}()
	})
	if err != nil {
		return err
	}
	return <-done
}

func (d *demo) steps(ctx context.Context) error {
	d.say.Print("\n== 1. Start: the emulator pings the receiver and registers it")
	err := d.during(ctx, "key-1", func() error {
		d.say.Print("\n== 2. Three transactions")
		err := d.adjust(ctx, 0, "100.00", "-20.00", "-5.50")

		d.say.Print("\n== 3. A message arrives three times")
		d.emulator.InjectDelivery("", prepaidtest.DuplicateMessage(2))
		err = errors.Join(err, d.adjust(ctx, 0, "-1.25"))

		d.say.Print("\n== 4. Each response to a message is lost, until it is undeliverable; the next drain gets it")
		d.emulator.InjectDelivery("", prepaidtest.LoseResponse(), prepaidtest.LoseResponse())
		err = errors.Join(err, d.adjust(ctx, 0, "-2.00"), d.adjust(ctx, time.Minute), d.drained(ctx))

		d.say.Print("\n== 5. Stop: a response is lost just before, then two messages cannot be delivered")
		d.emulator.InjectDelivery("", prepaidtest.LoseResponse())
		return errors.Join(err, d.adjust(ctx, 0, "-4.00"))
	})
	err = errors.Join(err, d.adjust(ctx, 0, "-6.00", "40.00"), d.adjust(ctx, time.Minute))
	if err != nil {
		return err
	}
	d.say.Printf("undeliverable: %d", d.undelivered())

	d.say.Print("\n== 6. Restart with a new key and nothing but the books")
	err = d.during(ctx, "key-2", func() error { return d.adjust(ctx, 0, "0.75") })
	return errors.Join(err, d.summary())
}

// adjust lets time pass in the emulator, adjusts the balance by one amount after the other, and waits until the messages are sent.
func (d *demo) adjust(ctx context.Context, later time.Duration, amounts ...string) error {
	d.emulator.Advance(later)
	for _, amount := range amounts {
		d.emulator.Adjust(d.account, amount)
	}
	return d.emulator.WaitIdle(ctx)
}

// drained waits until the service has no undeliverable message left.
func (d *demo) drained(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, 10*time.Second)
	defer cancel()
	for d.undelivered() > 0 && ctx.Err() == nil {
		time.Sleep(5 * time.Millisecond)
	}
	return ctx.Err()
}

func (d *demo) undelivered() (n int) {
	for _, hook := range d.emulator.Hooks() {
		n += len(hook.Undeliverable)
	}
	return n
}

func (d *demo) summary() error {
	left, balance := d.undelivered(), d.emulator.Balance(d.account)
	d.say.Printf("balance %s, still undelivered %d", balance, left)
	if d.books.sum.String() != balance || left > 0 {
		return errors.New("the books differ from the balance")
	}
	return nil
}

func newKey() prepaid.Secret {
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return prepaid.NewSecret(hex.EncodeToString(key[:]))
}
