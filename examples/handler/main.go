// Handler makes payments in an HTTP handler, which responds within two seconds. A worker completes payments that are still open then.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"time"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func main() {
	flag.Parse() // only for -h: there are no flags
	if err := run(os.Stdout); err != nil {
		log.Fatal(err) // log.Fatal skips deferred calls: main has none
	}
}

// run uses an emulator that loses the response to the payment of order 7. For the real service: prepaid.ConfigFromEnv, prepaid.NewClient.
func run(out io.Writer) (err error) {
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
	ask(out, s, "POST")
	ctx, stop := context.WithCancel(context.Background())
	s.worker.Trace.Recorded = func(e journal.Entry) { fmt.Fprintln(out, "last sent", e.LastSent); stop() } // a real worker does not stop
	err = s.worker.Run(ctx, s.payments, s.client.Accounts)
	ask(out, s, "GET")
	ask(out, s, "POST")
	fmt.Fprintln(out, "balance", srv.Balance(to))
	return err
}

func ask(out io.Writer, s *shop, method string) {
	mux, response := http.NewServeMux(), httptest.NewRecorder()
	mux.Handle("/orders/{id}/payment", s)
	mux.ServeHTTP(response, httptest.NewRequestWithContext(context.Background(), method, "/orders/7/payment", http.NoBody))
	fmt.Fprint(out, method, " ", response.Code, " ", response.Body)
}
