package main

import (
	"context"
	"errors"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/webhook"
)

// receiver listens, keeps its hook in the wanted state, and books every message.
type receiver struct {
	client *prepaid.Client
	want   prepaid.CreateHookParams
	form   webhook.HMAC        // the form of signatures, without keys
	old    webhook.StaticKeys  // accepted in addition to the wanted key
	alert  prepaid.MessageType // type of the undeliverable alert; empty if unknown
	books  *books
	file   string // file name of the books
	listen string // address
	say    *log.Logger
	lost   chan error // gets the error that ends listening
}

// start serves on the listener. It returns when the hook has the wanted state and missed messages are drained. The function
// stop ends the receiver: it refuses new messages, then waits at most 10 s for handlers in progress.
func (r *receiver) start(ctx context.Context, listener net.Listener) (stop func() error, err error) {
	keys := maps.Clone(r.old)
	keys[r.want.HMACKeyID] = r.want.HMACKeySecret
	ring, err := webhook.NewKeys(keys)
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	alerts := make(chan struct{}, 1)
	form := r.form
	form.Keys = ring
	handler, err := webhook.NewHandler(webhook.Config{
		Verifier:      form,
		OnTransaction: webhook.Decoded(r.books.book),
		OnOther: func(_ context.Context, m *prepaid.Message) error {
			if r.alert == "" || m.Type != r.alert {
				return r.books.note(m)
			}
			r.say.Printf("%s received", r.alert)
			select {
			case alerts <- struct{}{}:
			default: // an alert is waiting already
			}
			return nil
		},
		OnFailure: func(_ context.Context, status int, err error) { r.say.Printf("responded %d: %v", status, err) },
	})
	if err != nil {
		return nil, errors.Join(err, listener.Close())
	}
	server := &http.Server{Handler: handler, ReadHeaderTimeout: 5 * time.Second, ErrorLog: log.New(io.Discard, "", 0)}
	var work sync.WaitGroup
	lost := make(chan error, 1)
	r.lost = lost
	work.Go(func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			lost <- err
		}
	})
	working, cancel := context.WithCancel(ctx)
	stop = func() error {
		ctx, done := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
		defer done()
		err := server.Shutdown(ctx)
		cancel() // a drain drops the current message and ends
		err = errors.Join(err, handler.Shutdown(ctx))
		work.Wait()
		return err
	}

	// The receiver already listens here: the service pings it before the service responds to Ensure.
	hook, err := webhook.Ensure(ctx, r.client.Hooks, r.want, webhook.RotateIn(ring, time.Hour))
	if err != nil {
		return nil, errors.Join(err, stop())
	}
	r.say.Printf("the hook is registered, with key %s", r.want.HMACKeyID)
	r.drain(ctx, hook, handler)
	work.Go(func() {
		for {
			select {
			case <-alerts:
				r.drain(working, hook, handler)
			case <-working.Done():
				return
			}
		}
	})
	return stop, nil
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
