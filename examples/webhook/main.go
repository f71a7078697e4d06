// Webhook receives a card program's messages, stores each once, and drains messages that could not be delivered. It uses the service if
// PREPAID_BASE_URL is set, otherwise an emulator inside this process.
package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// settings are where the messages come from and go to.
type settings struct {
	client      *prepaid.Client
	listener    net.Listener
	want        prepaid.CreateHookParams
	inbox       string                      // path of the file
	demonstrate func(context.Context) error // on an emulator: causes messages, then the receiver ends
	close       func() error
}

// run receives until ctx ends. At the end it refuses new messages, then waits at most 10 s for handlers in progress.
func run(ctx context.Context) (err error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", cmp.Or(os.Getenv("WEBHOOK_LISTEN"), "127.0.0.1:0"))
	if err != nil {
		return err
	}
	s, err := open(listener)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.close()) }()
	in, err := openInbox(s.inbox)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, in.file.Close()) }()
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier: webhook.HMAC{ // the emulator's form of signatures; the operator defines the service's form
			Header: "X-Signature", Encoding: webhook.EncodingHex, KeyForm: webhook.KeyDecoded,
			Keys: webhook.StaticKeys{s.want.HMACKeyID: s.want.HMACKeySecret},
		},
		OnTransaction: in.keep,
		OnOther:       in.keep,
		OnFailure:     func(_ context.Context, status int, err error) { slog.Warn("refused", "status", status, "error", err) },
	})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	lost := make(chan error, 1)
	go func() { lost <- server.Serve(s.listener) }()
	// The receiver already listens here: the service pings it before the service responds to Ensure.
	hook, err := webhook.Ensure(ctx, s.client.Hooks, s.want)
	if err == nil {
		fmt.Println("the hook is registered")
		err = s.drain(ctx, hook, handler, lost)
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	return errors.Join(err, server.Shutdown(ctx), handler.Shutdown(ctx))
}

// drain stores undelivered messages, at once and every five minutes. The service forgets a message only after it is in the inbox.
func (s *settings) drain(ctx context.Context, hook prepaid.HookID, handler *webhook.Handler, lost <-chan error) error {
	for ctx.Err() == nil {
		n, err := webhook.Drain(ctx, s.client.Hooks, hook, handler.Handle)
		if err != nil && ctx.Err() == nil {
			slog.Warn("not all messages are drained: the others stay stored", "drained", n, "error", err)
		}
		if s.demonstrate != nil {
			return s.demonstrate(ctx)
		}
		select {
		case <-time.After(5 * time.Minute):
		case err := <-lost:
			return err
		case <-ctx.Done():
		}
	}
	return nil
}
