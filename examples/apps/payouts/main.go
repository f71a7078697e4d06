// Payouts takes orders over HTTP and pays each once, on any number of machines with one Postgres, any of which may be killed. It uses the
// service and the database of the environment if PREPAID_BASE_URL is set. Otherwise it starts its own Postgres, which must be
// installed, and an emulator, and pays some orders.
package main

import (
	"context"
	"errors"
	"log"
	"net"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	err := run(ctx)
	stop()
	if err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	if os.Getenv("PREPAID_BASE_URL") == "" {
		return demonstrate(ctx)
	}
	s, err := settingsFromEnv()
	if err != nil {
		return err
	}
	// Put your own authentication, TLS and limits in front of it.
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:8080")
	if err != nil {
		return err
	}
	return s.run(ctx, listener)
}

// run takes orders and pays them until ctx ends. After that, it completes HTTP requests and payments in progress.
func (s *settings) run(ctx context.Context, listener net.Listener) (err error) {
	defer listener.Close() //nolint:errcheck // the server closes it too
	pool, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	store, err := s.openStore(ctx, pool)
	if err != nil {
		return err
	}
	client, err := prepaid.NewClient(s.config)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, client.Close()) }()
	parts, ctx := errgroup.WithContext(ctx)
	parts.Go(func() error { return serve(ctx, listener, &web{pool: pool, store: store, float: s.float}) })
	parts.Go(func() error {
		return store.Run(ctx, client.Accounts, prepaidpg.Workers{N: 16, Claim: 8, Settled: settled})
	})
	return parts.Wait()
}
