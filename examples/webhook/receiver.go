package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

// receiver listens, keeps its hook in the wanted state, and books every message.
type receiver struct {
	client *prepaid.Client
	want   prepaid.CreateHookParams
	form   webhook.HMAC       // the form of signatures, without keys
	keys   webhook.StaticKeys // accepted in addition to the wanted key
	every  time.Duration      // interval between drains
	file   string             // path of the books
	books  *books
	say    *log.Logger
}

// serve receives until ctx ends. It calls ready when the hook has the wanted state and missed messages are drained. At the end it
// refuses new messages, then waits at most 10 s for handlers in progress.
func (r *receiver) serve(ctx context.Context, listener net.Listener, ready func()) (err error) {
	defer listener.Close() //nolint:errcheck // the server closes it too
	if r.books, err = openBooks(r.file, r.say); err != nil {
		return fmt.Errorf("the books cannot be opened: %w", err)
	}
	defer func() {
		err = errors.Join(err, r.books.file.Close())
		r.say.Print(r.books)
	}()
	r.keys[r.want.HMACKeyID] = r.want.HMACKeySecret
	ring, err := webhook.NewKeys(r.keys)
	if err != nil {
		return err
	}
	r.form.Keys = ring
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier:      r.form,
		OnTransaction: webhook.Decoded(r.books.book),
		OnOther:       r.books.note,
		OnFailure:     func(_ context.Context, status int, err error) { r.say.Printf("responded %d: %v", status, err) },
	})
	if err != nil {
		return err
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	lost := make(chan error, 1)
	go func() { lost <- server.Serve(listener) }()

	// The receiver already listens here: the service pings it before the service responds to Ensure.
	hook, err := webhook.Ensure(ctx, r.client.Hooks, r.want, webhook.RotateIn(ring, time.Hour))
	if err == nil {
		r.say.Printf("the hook is registered, with key %s", r.want.HMACKeyID)
		r.drain(ctx, hook, handler)
		ready()
	}
	for err == nil && ctx.Err() == nil {
		select {
		case <-time.After(r.every):
			r.drain(ctx, hook, handler)
		case err = <-lost:
		case <-ctx.Done():
		}
	}
	ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer done()
	return errors.Join(err, server.Shutdown(ctx), handler.Shutdown(ctx))
}

// drain books the messages stored for this receiver. The service forgets a drained message, but only after it is in the books.
func (r *receiver) drain(ctx context.Context, hook prepaid.HookID, handler *webhook.Handler) {
	n, err := webhook.Drain(ctx, r.client.Hooks, hook, handler.Handle)
	if n > 0 {
		r.say.Printf("drained and dismissed: %d", n)
	}
	if err != nil && ctx.Err() == nil {
		r.say.Printf("the rest stays stored: %v", err)
	}
}
