package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"golang.org/x/sync/errgroup"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

// demonstrate places orders with two machines, and shows the books when each order is paid.
func demonstrate(ctx context.Context) (err error) {
	postgres, err := pgtest.Run(ctx, pgtest.Options{})
	if errors.Is(err, pgtest.ErrNotInstalled) {
		return errors.New("install Postgres first (Debian: apt install postgresql; macOS: brew install postgresql@17)")
	}
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }()
	srv, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, srv.Close()) }()
	s := &settings{
		config: srv.Config(), float: srv.AddAccount(prepaidtest.SeedAccount{Balance: "10000.00"}), database: postgres.URL(),
		key: prepaid.NewSecret(strings.Repeat("5a", 32)), // a real key is random, and in a vault
	}
	s.config.RateShare = 0.5 // two machines share one address
	pool, err := s.connect(ctx)
	if err != nil {
		return err
	}
	defer pool.Close()
	payee := srv.AddAccount(prepaidtest.SeedAccount{})
	if err := migrate(ctx, pool); err != nil {
		return err
	}
	if _, err := pool.Exec(ctx, `insert into payees (account_id) values ($1)`, payee); err != nil {
		return err
	}
	running, stop := context.WithCancel(ctx)
	defer stop()
	parts, running := errgroup.WithContext(running)
	var addresses []string
	for range 2 {
		listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
		if err != nil {
			return err
		}
		addresses = append(addresses, "http://"+listener.Addr().String()+"/orders")
		parts.Go(func() error { return s.run(running, listener) })
	}
	parts.Go(func() error {
		defer stop()
		return shop(running, pool, addresses, payee)
	})
	if err := parts.Wait(); err != nil {
		return err
	}
	fmt.Printf("the payee has %s\n", srv.Balance(payee))
	return nil
}

// shop posts each order to every machine, as an impatient customer does, and waits for the books.
func shop(ctx context.Context, pool *pgxpool.Pool, addresses []string, payee prepaid.AccountID) error {
	const orders = 20
	for n := range orders {
		body, err := json.Marshal(order{ID: strconv.Itoa(n), AccountID: payee, Amount: prepaid.Cents(int64(1000 + n)), Reference: fmt.Sprint("INVOICE ", n)})
		if err != nil {
			return err
		}
		for _, address := range addresses {
			if err := post(ctx, address, body); err != nil {
				return err
			}
		}
	}
	for ctx.Err() == nil {
		var count int
		var sum prepaid.Amount
		if err := pool.QueryRow(ctx, `select count(*), coalesce(sum(amount), 0)::text from postings`).Scan(&count, &sum); err != nil {
			return err
		}
		if count == orders {
			fmt.Printf("the books have %d payments, together %s\n", count, sum)
			return nil
		}
		time.Sleep(100 * time.Millisecond)
	}
	return ctx.Err()
}

func post(ctx context.Context, address string, body []byte) error {
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return err
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return err
	}
	if response.StatusCode != http.StatusAccepted {
		err = errors.New(response.Status)
	}
	return errors.Join(err, response.Body.Close())
}
