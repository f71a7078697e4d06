package hostile

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"net/http"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cardprograms/prepaid/prepaidtest"
)

// run is one run of the harness.
type run struct {
	options Options
	server  *prepaidtest.Server
	orders  *orders
	plan    plan
	gate    *http.Server
	log     *log.Logger
	dir     string
	began   time.Time
	clock   time.Time // the server's time at the start
	end     context.CancelCauseFunc

	background sync.WaitGroup
	service    barrier       // shut while the service is frozen
	over       chan struct{} // closed after the copies' end
	open       atomic.Int64  // the number of open wires
	late       atomic.Int64  // current delay of this process's timers, in nanoseconds
	cutting    sync.Mutex    // a cut of the database must not cut off another one

	mu       sync.Mutex  // guards all below
	arrivals map[int]int // by payment
	events   []event
	due      []disturbance // actions that wait for a request
	frozen   *freeze       // the last freeze of a process
	flights  []flight
	counts   Counts
}

// Run runs workers until each copy has ended with status 0, and reports on the money. If ctx or Options.Timeout ends the run
// early, Report.Unfinished has the reason.
//
// The error is about the run: wrong options, a command that cannot be started, an error of Prepare. Wrong payments are in the Report.
func Run(ctx context.Context, options Options) (*Report, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	if os.Getenv(envPayments) != "" {
		return nil, errors.New("hostile: this process is a worker: it must call Worker first")
	}
	r := &run{options: o, arrivals: make(map[int]int), log: log.New(o.Log, "", 0), over: make(chan struct{})}
	if r.dir, err = os.MkdirTemp("", "prepaid-hostile-"); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	if r.server, err = prepaidtest.Start(prepaidtest.Options{RandomSeed: new(o.Seed), RequestLog: 1_000_000}); err != nil {
		return nil, err
	}
	r.gate = &http.Server{Handler: r, ConnContext: withWire, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	defer func() {
		_ = errors.Join(r.gate.Close(), r.server.Close()) // of no matter: the run is over
		r.background.Wait()
	}()
	r.orders, r.plan = order(o, r.server), newPlan(o)
	if err := errors.Join(os.Mkdir(r.shared(), 0o700), writeLines(r.payments(), r.orders.list)); err != nil {
		return nil, err
	}
	r.server.Decide(r.decide)
	if o.Prepare != nil {
		if err := o.Prepare(ctx, Job{Payments: slices.Clone(r.orders.list), Dir: r.shared()}); err != nil {
			return nil, fmt.Errorf("hostile: Prepare: %w", err)
		}
	}
	unfinished, err := r.work(ctx)
	if err != nil {
		return nil, err
	}
	return r.report(unfinished), nil
}

// work runs the copies, and returns when all their requests have ended.
func (r *run) work(ctx context.Context) (unfinished string, err error) {
	r.began, r.clock = time.Now(), r.server.Now()
	limited, release := context.WithTimeoutCause(ctx, r.options.Timeout, fmt.Errorf("the run has taken %s", r.options.Timeout))
	defer release()
	running, end := context.WithCancelCause(limited)
	defer end(nil)
	r.end = end
	r.background.Go(r.measure)
	problems := make([]error, r.options.Copies)
	var copies sync.WaitGroup
	for i := range problems {
		copies.Go(func() {
			if problems[i] = r.supervise(running, i+1); problems[i] != nil {
				end(problems[i])
			}
		})
	}
	copies.Wait()
	close(r.over)
	if err := errors.Join(problems...); err != nil {
		return "", err
	}
	if err := context.Cause(running); err != nil {
		unfinished = err.Error()
	}
	for limit := time.Now().Add(2 * r.options.longest()); r.open.Load() > 0 && time.Now().Before(limit); { // requests may be in progress
		time.Sleep(time.Millisecond)
	}
	idle, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*r.options.longest())
	defer stop()
	if err := r.server.WaitIdle(idle); err != nil {
		return "", fmt.Errorf("hostile: requests that run on do not end: %w", err)
	}
	return unfinished, nil
}

// measure updates r.late: the greatest timer delay of about the last second.
func (r *run) measure() {
	const period = 5 * time.Millisecond
	for began := time.Now(); ; began = time.Now() {
		select {
		case <-r.over:
			return
		case <-time.After(period):
		}
		was := r.late.Load()
		r.late.Store(max(int64(time.Since(began)-period), was-was/100))
	}
}

// since is the time since the start.
func (r *run) since() time.Duration { return time.Since(r.began) }

// output sends a process's output to the log in lines. One goroutine of exec writes it.
type output struct {
	to      *log.Logger
	name    string
	partial []byte
}

// Write accepts pieces of lines.
func (o *output) Write(p []byte) (int, error) {
	o.partial = append(o.partial, p...)
	for {
		line, rest, found := bytes.Cut(o.partial, []byte("\n"))
		if !found {
			return len(p), nil
		}
		o.to.Printf("%s: %s", o.name, line)
		o.partial = rest
	}
}

// flush ends the last line.
func (o *output) flush() {
	if len(o.partial) > 0 {
		o.to.Printf("%s: %s", o.name, o.partial)
	}
}
