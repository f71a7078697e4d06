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
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	prepaidpg "github.com/cardprograms/prepaid/contrib/postgres"
	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

const workersAtOnce = 3

// demo is everything that the demonstration starts.
type demo struct {
	settings

	service   *service
	postgres  *server
	pool      *pgxpool.Pool
	store     *prepaidpg.Store
	web       *process
	workers   []*process
	customers *customers
	events    *events
	began     time.Time
	tally     tally

	work   sync.WaitGroup // everything below that runs
	failed chan error     // why the demonstration cannot continue
	shut   atomic.Bool    // the customers have placed all their orders
	now    atomic.Pointer[figures]
	busy   atomic.Int32 // accidents under way

	crashing atomic.Bool // Postgres is away on purpose
	turn     int         // of the workers, for accidents
}

// tally counts accidents.
type tally struct{ kills, freezes, crashes atomic.Int32 }

// demonstrate runs the demonstration and returns its exit status.
func demonstrate(ctx context.Context, o options, in *os.File, out *output, errOut io.Writer) (code int, err error) {
	logs, closeLogs, err := openLogs(o.log)
	if err != nil {
		return exitWrong, err
	}
	defer closeLogs()
	service, err := openService()
	if err != nil {
		return exitWrong, err
	}
	defer func() { err = errors.Join(err, service.close()) }()
	postgres, err := openServer(ctx, service.emulator != nil, pgtest.Options{})
	if err != nil {
		return exitWrong, err
	}
	defer func() { err = errors.Join(err, postgres.close(context.WithoutCancel(ctx))) }()
	screen, err := openScreen(in, out)
	if err != nil {
		return exitWrong, err
	}
	defer screen.close()
	d, err := newDemo(ctx, o, service, postgres, logs, newEvents(screen))
	if err != nil {
		return exitWrong, err
	}
	defer d.pool.Close()
	return d.conclude(ctx, screen, out, errOut)
}

// conclude runs the demonstration to its end, proves what it did, and returns the exit status.
func (d *demo) conclude(ctx context.Context, screen *screen, out, errOut io.Writer) (int, error) {
	if err := d.run(ctx, screen); err != nil {
		return exitUnfinished, err
	}
	screen.close() // what follows stays on the terminal
	found, err := d.prove(ctx)
	if err != nil {
		return exitUnfinished, fmt.Errorf("not compared: %w", err)
	}
	return found.print(out, errOut)
}

// openLogs opens the file for what the processes log.
func openLogs(name string) (io.Writer, func(), error) {
	if name == "" {
		return io.Discard, func() {}, nil
	}
	file, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return nil, nil, fmt.Errorf("%w: -log: %w", errWrong, err)
	}
	return file, func() { _ = file.Close() }, nil // nothing depends on it
}

// newDemo prepares the database and the processes.
func newDemo(ctx context.Context, o options, service *service, postgres *server, logs io.Writer, events *events) (*demo, error) {
	d := &demo{
		service: service, postgres: postgres, events: events, began: time.Now(), failed: make(chan error, 1),
		settings: settings{
			config: service.config, float: service.float, call: service.call, database: postgres.address, name: postgres.name,
		},
	}
	var err error
	if d.key, err = demoKey(service.emulator != nil); err != nil {
		return nil, err
	}
	if d.pool, err = d.connect(ctx); err != nil {
		return nil, err
	}
	if err = migrate(ctx, d.pool); err == nil {
		err = d.admit(ctx)
	}
	if err == nil {
		d.store, err = d.openStore(ctx, d.pool, slog.New(slog.NewTextHandler(logs, nil)))
	}
	address := ""
	if err == nil {
		address, err = freeAddress(ctx)
	}
	if err != nil {
		d.pool.Close()
		return nil, fmt.Errorf("%w: %w", errWrong, err)
	}
	environment := d.environment()
	child := func(name string, args ...string) *process {
		return &process{name: name, args: append(args, "-supervised"), environment: environment, logs: logs, event: d.event}
	}
	d.web = child("web", "web", "-listen", address)
	for n := range workersAtOnce {
		d.workers = append(d.workers, child(fmt.Sprintf("worker %d", n+1), "work"))
	}
	d.customers = &customers{
		client:  &http.Client{Transport: &http.Transport{}},
		address: "http://" + address + "/orders", run: time.Now().UTC().Format("20060102-150405"), reference: "INVOICE",
		payees: service.payees, strangers: service.strangers, most: o.orders, pause: 16 * time.Millisecond,
		cents: func(n int) int64 { return int64(1000 + n*37%9000) }, accepted: make(map[string]order), refused: make(map[string]bool),
	}
	if service.emulator == nil { // on accounts that others use too
		d.customers.cents = func(n int) int64 { return int64(1 + n%5) }
		d.customers.pause = 200 * time.Millisecond
	}
	if d.customers.most == 0 && !events.live() {
		d.customers.most = 600
		if service.emulator == nil {
			d.customers.most = 30
		}
	}
	return d, nil
}

// demoKey returns the key of what is encrypted: for the emulator, whose payments end with the demonstration, a new one.
func demoKey(emulated bool) (prepaid.Secret, error) {
	if !emulated {
		return keyFromEnv()
	}
	var key [32]byte
	_, _ = rand.Read(key[:]) // never fails
	return prepaid.NewSecret(hex.EncodeToString(key[:])), nil
}

// admit registers the payees. The strangers stay out: an order for one of them is rolled back.
func (d *demo) admit(ctx context.Context) error {
	_, err := d.pool.Exec(ctx, `insert into payees (account_id) select unnest($1::text[]) on conflict do nothing`, d.service.payees)
	return err
}

// freeAddress returns an address that nobody listens on: the web process listens on the same one after each restart.
func freeAddress(ctx context.Context) (string, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

func (d *demo) event(format string, args ...any) {
	d.events.add(time.Since(d.began), fmt.Sprintf(format, args...))
}

func (d *demo) fail(err error) {
	select {
	case d.failed <- err:
	default: // the first failure counts
	}
}

// run starts everything and returns when all orders are paid.
func (d *demo) run(ctx context.Context, screen *screen) (err error) {
	running, kill := context.WithCancel(context.WithoutCancel(ctx))
	watching, unwatch := context.WithCancel(ctx)
	defer func() {
		unwatch()
		err = errors.Join(err, d.stop(kill))
	}()
	d.event("started: %s, %s, web, %d workers", d.postgres, d.service, len(d.workers))
	for _, p := range d.processes() {
		d.work.Go(func() {
			if err := p.run(running); err != nil {
				d.fail(err)
			}
		})
	}
	d.work.Go(func() {
		if err := d.customers.shop(watching); err != nil && watching.Err() == nil {
			d.fail(err)
		}
		d.shut.Store(true)
	})
	d.work.Go(func() { d.watch(watching) })

	script := newScript(d, screen)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case <-tick.C:
			f := d.now.Load()
			if f == nil {
				continue
			}
			screen.show(d.view(*f))
			script.play(watching, f)
			if script.done() && f.finished() && d.busy.Load() == 0 {
				return nil
			}
			if f.shut && time.Since(f.since) > d.patience() {
				d.event("nothing has changed for %.0f s: the comparison shows what is left", d.patience().Seconds())
				return nil
			}
		case key := <-screen.keys:
			if key == keyInterrupt {
				return errInterrupted
			}
			_ = d.press(watching, key) // what is not possible now has no effect
		case err := <-d.failed:
			return err
		case <-ctx.Done():
			return errInterrupted
		}
	}
}

var errInterrupted = errors.New("interrupted: nothing is proven")

func (d *demo) processes() []*process { return append([]*process{d.web}, d.workers...) }

// stop lets the processes finish what they do, and kills those that do not.
func (d *demo) stop(kill context.CancelFunc) error {
	for _, p := range d.processes() {
		p.stop()
	}
	late := time.AfterFunc(d.call+10*time.Second, kill)
	d.work.Wait()
	defer kill()
	if !late.Stop() {
		return errors.New("a process did not end by itself")
	}
	return nil
}
