package hostile

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
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
	target  target
	log     *logger
	dir     string // for the harness
	shared  string // for the copies
	file    string // with the payments
	began   time.Time
	clock   time.Time // the server's time at the start
	spawns  chan func()
	end     context.CancelCauseFunc

	background sync.WaitGroup
	restarts   atomic.Int64
	service    barrier       // shut while the service is frozen
	over       chan struct{} // closed after the copies' end
	open       atomic.Int64  // the number of open wires
	late       atomic.Int64  // current delay of this process's timers, in nanoseconds

	mu       sync.Mutex // guards all below
	closing  []func() error
	last     *process // the last copy that ended without success
	lastSent time.Time
	arrivals map[int]int // by payment
	events   []event
	due      []disturbance // actions that wait for a request
	frozen   *freeze       // the last freeze of a process
	flights  []flight
	moves    []move
	counts   Counts
}

// Run runs workers until each copy has ended with status 0, and reports on the money. If ctx, Options.Timeout
// or Options.Quiet ends the run early, Report.Unfinished has the reason.
//
// The error is about the run: wrong options, a command that cannot be started, an error of Prepare or Enqueue. Wrong payments are in
// the Report.
func Run(ctx context.Context, options Options) (*Report, error) {
	o, err := options.withDefaults()
	if err != nil {
		return nil, err
	}
	r := &run{options: o, arrivals: make(map[int]int), log: &logger{to: o.Log}, spawns: make(chan func()), over: make(chan struct{})}
	if o.Database != "" {
		if r.target, err = newTarget(o.Database); err != nil {
			return nil, err
		}
	}
	if r.dir, err = os.MkdirTemp("", "prepaid-hostile-"); err != nil {
		return nil, err
	}
	defer func() { _ = os.RemoveAll(r.dir) }()
	if r.server, err = prepaidtest.Start(prepaidtest.Options{RandomSeed: new(o.Seed), RequestLog: 1_000_000}); err != nil {
		return nil, err
	}
	r.atEnd(r.server.Close)
	defer r.background.Wait()
	defer r.close()
	r.orders = order(o, r.server)
	r.plan = newPlan(o, r.orders)
	if err := r.write(); err != nil {
		return nil, err
	}
	r.server.Decide(r.decide)
	return r.work(ctx)
}

// write writes the files that the copies read.
func (r *run) write() error {
	r.file, r.shared = filepath.Join(r.dir, "payments"), filepath.Join(r.dir, "shared")
	text, err := writeLines(r.orders.list)
	if err != nil {
		return err
	}
	return errors.Join(os.Mkdir(r.shared, 0o700), os.WriteFile(r.file, text, 0o600))
}

func (r *run) work(ctx context.Context) (*Report, error) {
	job := Job{Payments: slices.Clone(r.orders.list), Dir: r.shared, Database: r.options.Database, file: r.file}
	if r.options.Prepare != nil {
		if err := r.options.Prepare(ctx, job); err != nil {
			return nil, fmt.Errorf("hostile: Prepare: %w", err)
		}
	}
	r.began, r.clock = time.Now(), r.server.Now()
	r.lastSent = r.began
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	r.end = cancel
	limit := time.AfterFunc(r.options.Timeout, func() { cancel(fmt.Errorf("the run has taken %s", r.options.Timeout)) })
	defer limit.Stop()
	r.background.Go(func() { r.watch(cancel) })
	r.background.Go(r.measure)
	var spawner, copies sync.WaitGroup
	spawner.Go(r.spawner)
	problems := make([]error, r.options.Copies+1)
	for i := range r.options.Copies {
		copies.Go(func() {
			if problems[i] = r.supervise(ctx, i+1); problems[i] != nil {
				cancel(problems[i])
			}
		})
	}
	if r.options.Enqueue != nil {
		copies.Go(func() {
			if err := r.options.Enqueue(ctx, job); err != nil && ctx.Err() == nil {
				problems[r.options.Copies] = fmt.Errorf("hostile: Enqueue: %w", err)
				cancel(err)
			}
		})
	}
	copies.Wait()
	close(r.over)
	close(r.spawns)
	spawner.Wait()
	if err := errors.Join(problems...); err != nil {
		return nil, err
	}
	unfinished := ""
	if err := context.Cause(ctx); err != nil {
		unfinished = err.Error()
	}
	r.service.stays()
	for limit := time.Now().Add(2 * r.options.longest()); r.open.Load() > 0 && time.Now().Before(limit); { // requests may be in progress
		time.Sleep(time.Millisecond)
	}
	idle, stop := context.WithTimeout(context.WithoutCancel(ctx), 10*r.options.longest())
	defer stop()
	if err := r.server.WaitIdle(idle); err != nil {
		return nil, fmt.Errorf("hostile: requests that run on do not end: %w", err)
	}
	return r.report(unfinished), nil
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

// watch ends a run in which no worker sends payments any more.
func (r *run) watch(cancel context.CancelCauseFunc) {
	ticks := time.NewTicker(r.options.Quiet / 20)
	defer ticks.Stop()
	for {
		select {
		case <-r.over:
			return
		case now := <-ticks.C:
			r.mu.Lock()
			quiet := now.Sub(r.lastSent)
			r.mu.Unlock()
			if quiet > r.options.Quiet {
				cancel(fmt.Errorf("no worker has sent a payment for %s", r.options.Quiet))
				return
			}
		}
	}
}

// atEnd registers the function do, which close calls to stop background work.
func (r *run) atEnd(do func() error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.closing = append(r.closing, do)
}

func (r *run) close() {
	r.mu.Lock()
	closing := r.closing
	r.mu.Unlock()
	for _, do := range slices.Backward(closing) {
		_ = do() // an error does not matter
	}
}

// since is the time since the start.
func (r *run) since() time.Duration { return time.Since(r.began) }

// logger writes lines of several copies.
type logger struct {
	mu sync.Mutex
	to io.Writer
}

func (l *logger) line(name, text string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	_, _ = fmt.Fprintf(l.to, "%s: %s\n", name, text)
}

// output sends a process's output to the log in lines, and keeps the last lines.
type output struct {
	to   *logger
	name string

	mu      sync.Mutex // guards all below
	partial []byte
	lines   []string
}

// A report shows the last keptLines lines of a process, and at most mostLine bytes of each line.
const keptLines, mostLine = 10, 1000

// Write accepts pieces of lines.
func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, b := range p {
		if b == '\n' || len(o.partial) == mostLine {
			o.end()
		}
		if b != '\n' {
			o.partial = append(o.partial, b)
		}
	}
	return len(p), nil
}

// end ends a line. The caller holds the lock.
func (o *output) end() {
	line := strings.TrimRight(string(o.partial), "\r")
	o.partial = o.partial[:0]
	if line == "" {
		return
	}
	o.to.line(o.name, line)
	if o.lines = append(o.lines, line); len(o.lines) > keptLines {
		o.lines = o.lines[1:]
	}
}

func (o *output) flush() {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.end()
}

func (o *output) tail() []string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return slices.Clone(o.lines)
}
