// Handler pays orders in an HTTP handler, which responds within two seconds. A worker completes payments that are still open then.
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

// run posts an order on an emulator that loses the response to its payment. For the real service: prepaid.ConfigFromEnv,
// prepaid.NewClient, an http.Server, and a worker that runs as long as the server.
func run(ctx context.Context) (err error) {
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	dir, err := os.MkdirTemp("", "handler")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(dir)) }()
	from, to := srv.AddAccount(prepaidtest.SeedAccount{Balance: "100.00"}), srv.AddAccount(prepaidtest.SeedAccount{})
	order := prepaid.TransferParams{ // stored with the order
		RequestID: prepaid.DeriveRequestID(prepaid.DateOf(time.Now().UTC()), "order", "7"), Amount: prepaid.MustAmount("25.50"),
		DestinationAccountID: to, Type: prepaid.TransferTypeLoad, SourceReference: "order 7", DestinationReference: "order 7",
	}
	s, err := open(srv.Client(), filepath.Join(dir, "payments"), from, map[string]prepaid.TransferParams{"7": order})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, s.payments.Close()) }()
	srv.Inject("POST /accounts/{id}/transfer", prepaidtest.CommitThenDrop())
	s.ask(ctx, http.MethodPost)
	working, done := context.WithCancel(ctx)
	defer done()
	s.worker.Trace.Recorded = func(journal.Entry) { done() } // a real worker does not stop
	err = s.worker.Run(working, s.payments, s.client.Accounts)
	s.ask(ctx, http.MethodGet)
	return err
}

func (s *shop) ask(ctx context.Context, method string) {
	mux, response := http.NewServeMux(), httptest.NewRecorder()
	mux.Handle("/orders/{id}/payment", s)
	mux.ServeHTTP(response, httptest.NewRequestWithContext(ctx, method, "/orders/7/payment", http.NoBody))
	fmt.Print(method, " ", response.Code, " ", response.Body)
}
