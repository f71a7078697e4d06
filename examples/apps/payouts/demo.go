package main

import (
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"net/http"
	"sync"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/prepaidtest"
)

const demoOrders, demoWorkers = 200, 3

// demo has the processes of the demonstration and the data for the comparison.
type demo struct {
	settings

	began     time.Time
	emulator  *prepaidtest.Server
	pool      *pgxpool.Pool
	store     *prepaidpg.Store
	customers *customers
	patience  time.Duration // much longer than a payment takes with all repeats
}

// demonstrate places orders, pays them, and compares customers, orders, payments and accounts.
func demonstrate(ctx context.Context, out io.Writer) (err error) {
	postgres, err := pgtest.Run(ctx, pgtest.Options{})
	if errors.Is(err, pgtest.ErrNotInstalled) {
		return fmt.Errorf("%w: install Postgres first (Debian: apt install postgresql; macOS: brew install postgresql@17)", errWrong)
	}
	if err != nil {
		return fmt.Errorf("%w: %w", errWrong, err)
	}
	defer func() { err = errors.Join(err, postgres.Stop()) }()
	d, err := newDemo(ctx, postgres.URL())
	if err != nil {
		return fmt.Errorf("%w: %w", errWrong, err)
	}
	defer func() { err = errors.Join(err, d.close()) }()
	if err := d.run(ctx, demoOrders, out); err != nil {
		return fmt.Errorf("ended early, nothing is compared: %w", err)
	}
	c, err := d.compare(ctx)
	if err != nil {
		return fmt.Errorf("not compared: %w", err)
	}
	return c.print(out)
}

// newDemo prepares the database, and the emulator with its accounts.
func newDemo(ctx context.Context, database string) (*demo, error) {
	emulator, err := prepaidtest.Start(prepaidtest.Options{})
	if err != nil {
		return nil, err
	}
	d := &demo{began: time.Now(), emulator: emulator, patience: time.Minute}
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	d.settings = settings{
		config: emulator.Config(), call: 4 * time.Second, database: database,
		float: emulator.AddAccount(prepaidtest.SeedAccount{Balance: "10000000.00"}),
		key:   prepaid.NewSecret(hex.EncodeToString(key[:])), log: slog.New(slog.DiscardHandler),
	}
	// Short times resolve an unknown outcome within seconds. With the real service, keep the defaults.
	d.config.AttemptTimeout, d.config.Retry.InFlightWait = time.Second, time.Second
	d.config.RateShare = 0.25 // three workers and the comparison share one address
	var payees []prepaid.AccountID
	for range 40 {
		payees = append(payees, emulator.AddAccount(prepaidtest.SeedAccount{}))
	}
	d.customers = newCustomers(payees, emulator.AddAccount(prepaidtest.SeedAccount{}))
	emulator.Decide(fault)
	if err := d.prepareDatabase(ctx); err != nil {
		return nil, errors.Join(err, d.close())
	}
	return d, nil
}

func (d *demo) prepareDatabase(ctx context.Context) (err error) {
	if d.pool, err = d.connect(ctx); err != nil {
		return err
	}
	if err := migrate(ctx, d.pool); err != nil {
		return err
	}
	if _, err := d.pool.Exec(ctx, `insert into payees (account_id) select unnest($1::text[])`, d.customers.payees); err != nil {
		return err
	}
	d.store, err = d.openStore(ctx, d.pool)
	return err
}

func (d *demo) close() error {
	if d.pool != nil {
		d.pool.Close()
	}
	return d.emulator.Close()
}

// fault returns a fault that depends on the request, not on time: one transfer in ten fails, in four different ways.
func fault(_ context.Context, a prepaidtest.Arrival) prepaidtest.Fault {
	const later = 500 * time.Millisecond // shorter than InFlightWait, as the operator promises
	if a.Operation != "POST /accounts/{id}/transfer" {
		return prepaidtest.Fault{}
	}
	switch a.Ordinal % 40 {
	case 7:
		return prepaidtest.CommitThenDrop()
	case 16:
		return prepaidtest.Respond(http.StatusServiceUnavailable, "")
	case 24: // the money moves after the caller has seen the failure
		return prepaidtest.DropBeforeCommit().CommitAfter(later)
	case 33:
		return prepaidtest.ProxyPage(http.StatusBadGateway).CommitAfter(later)
	}
	return prepaidtest.Delay(time.Duration(a.Ordinal%8) * 25 * time.Millisecond)
}

// run starts the parts in this process, places orders and returns when the orders are paid.
func (d *demo) run(ctx context.Context, orders int, out io.Writer) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return err
	}
	running, stop := context.WithCancelCause(ctx)
	var parts sync.WaitGroup
	start := func(part func(context.Context) error) {
		parts.Go(func() {
			if err := part(running); err != nil {
				stop(err)
			}
		})
	}
	start(func(ctx context.Context) error { return serve(ctx, d.settings, listener) })
	for range demoWorkers {
		start(func(ctx context.Context) error { return work(ctx, d.settings) })
	}
	fmt.Fprintf(out, "started     Postgres, emulator, web, %d workers\n", demoWorkers)
	err = d.customers.shop(running, "http://"+listener.Addr().String()+"/orders", orders)
	if err == nil {
		fmt.Fprintf(out, "ordered     %d orders\n", orders)
		err = d.settle(running)
	}
	if running.Err() != nil { // a part has failed, or the user has interrupted the program
		err = context.Cause(running)
	}
	stop(nil) // workers finish the payments that they are sending
	parts.Wait()
	return err
}

// settle waits until the books have an outcome for each payment, but at most for d.patience. The comparison later shows
// payments that still have no outcome.
func (d *demo) settle(ctx context.Context) error {
	for began := time.Now(); time.Since(began) < d.patience; sleep(ctx, 100*time.Millisecond) {
		s, err := d.store.Stats(ctx)
		if err != nil {
			return err
		}
		if s.Queued.Count+s.Intended.Count+s.NotSent.Count+s.Unknown.Count+s.Unsettled == 0 {
			return nil
		}
	}
	return nil
}

// sleep waits until pause has passed or ctx ends.
func sleep(ctx context.Context, pause time.Duration) {
	select {
	case <-time.After(pause):
	case <-ctx.Done():
	}
}
