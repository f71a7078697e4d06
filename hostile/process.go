package hostile

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"time"
)

// process is one process of a copy. Its own address identifies its requests.
type process struct {
	run         *run
	copy, start int // both from 1
	cmd         *exec.Cmd
	hold        func() error // closes its standard input
	output      *output
	database    *proxy // nil without a database
	network     barrier
	responses   barrier // shut from a freeze until no request is on its way since before the freeze
	payments    atomic.Int64
	exited      chan struct{} // closed when the process has ended

	mu     sync.Mutex // guards all below, and signals
	ended  bool
	frozen bool
	thawed time.Time
}

// String is the name of the process in a timeline.
func (p *process) String() string { return fmt.Sprintf("worker %d.%d", p.copy, p.start) }

// launch starts a process of a copy.
func (r *run) launch(ctx context.Context, number, start int) (*process, error) {
	p := &process{run: r, copy: number, start: start, exited: make(chan struct{})}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.atEnd(at.Close)
	database := ""
	if r.options.Database != "" {
		if p.database, database, err = r.target.proxy(ctx, &r.background); err != nil {
			return nil, err
		}
		r.atEnd(p.database.close)
	}
	summary := r.summaryOf(number)
	if err := os.RemoveAll(summary); err != nil {
		return nil, err
	}
	command := r.options.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{self}
	}
	p.cmd = exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the caller's own program, which supervise ends
	job := Job{Worker: number, Dir: r.shared, Database: database, file: r.file, summary: summary}
	p.cmd.Env = slices.Concat(os.Environ(), r.environment(at.Addr().String()), job.Environ(), r.options.Env)
	p.cmd.Env = append(p.cmd.Env, envFunction+"="+r.options.Worker)
	p.output = &output{to: r.log, name: p.String()}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second
	stdin, err := p.cmd.StdinPipe()
	if err != nil {
		return nil, err
	}
	p.hold = stdin.Close
	ownGroup(p.cmd)
	server := &http.Server{Handler: p, ConnContext: withWire, ReadHeaderTimeout: time.Minute, ErrorLog: slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)}
	r.background.Go(func() { _ = server.Serve(listener{at, p}) }) // until the run ends: requests of a killed process can still arrive
	r.atEnd(server.Close)
	p.mu.Lock()
	err = r.spawn(p.cmd.Start)
	p.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("hostile: the worker cannot be started: %w", err)
	}
	r.background.Go(p.wait)
	return p, nil
}

// environment returns the variables of the process to which the address belongs.
func (r *run) environment(address string) []string {
	config := r.server.Config()
	return []string{
		"PREPAID_BASE_URL=http://" + address + "/3.0/", "PREPAID_VENDOR=" + config.Vendor, "PREPAID_ENVIRONMENT=test",
		"PREPAID_CLIENT_ID=" + config.ClientID, "PREPAID_CLIENT_SECRET=" + config.ClientSecret.Reveal(),
		"PREPAID_ATTEMPT_TIMEOUT=" + r.options.AttemptTimeout.String(), "PREPAID_RETRY_IN_FLIGHT_WAIT=" + r.options.InFlightWait.String(),
		"PREPAID_RETRY_MIN_WAIT=5ms", "PREPAID_RETRY_MAX_WAIT=50ms", "PREPAID_RETRY_TOKEN_HOLD=20ms",
		"PREPAID_RATE_SHARE=" + strconv.FormatFloat(1/float64(r.options.Copies), 'f', 4, 64),
	}
}

func (r *run) summaryOf(number int) string {
	return filepath.Join(r.dir, "summary-"+strconv.Itoa(number))
}

func (p *process) wait() {
	_ = p.cmd.Wait() // ProcessState has the result
	p.mu.Lock()
	p.ended = true
	_ = killGroup(p.cmd) // its children
	p.mu.Unlock()
	_ = p.hold()
	p.output.flush()
	p.run.note(event{process: p, text: "ended: " + p.cmd.ProcessState.String()})
	close(p.exited)
}

// signal calls do for a process that has not ended, and reports whether do succeeded.
func (p *process) signal(what string, frozen bool, do func(*exec.Cmd) error) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.ended || (frozen && p.frozen) || do(p.cmd) != nil {
		return false
	}
	if p.frozen && !frozen {
		p.thawed = time.Now()
	}
	p.frozen = frozen
	p.run.note(event{process: p, text: what})
	return true
}

// kill kills a process and waits up to killWait for its end. The wait is short, because the request that is waiting for
// kill has a time limit.
func (p *process) kill(what string) bool {
	if !p.signal(what, false, killGroup) {
		return false
	}
	select {
	case <-p.exited:
	case <-time.After(killWait):
	}
	return true
}

const killWait = 20 * time.Millisecond

// supervise runs a copy until it ends with status 0, or ctx ends.
func (r *run) supervise(ctx context.Context, number int) error {
	for start := 1; ; start++ {
		p, err := r.launch(ctx, number, start)
		if err != nil {
			return err
		}
		select {
		case <-p.exited:
		case <-ctx.Done():
			p.kill("killed at the end")
			<-p.exited
			return nil
		}
		if p.cmd.ProcessState.Success() {
			return nil
		}
		r.restarts.Add(1)
		r.mu.Lock()
		r.last = p
		r.mu.Unlock()
		pause := restartPause
		if p.payments.Load() == 0 && p.cmd.ProcessState.Exited() { // another copy may have the lock
			pause = 10 * restartPause
		}
		select {
		case <-time.After(pause):
		case <-ctx.Done():
			return nil
		}
	}
}

// restartPause is the pause before an ended copy is started again.
const restartPause = 10 * time.Millisecond

// spawner starts all processes on one thread, which lives until the end of the run: on Linux a process ends with the thread
// that started it.
func (r *run) spawner() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	for start := range r.spawns {
		start()
	}
}

func (r *run) spawn(start func() error) error {
	started := make(chan error, 1)
	r.spawns <- func() { started <- start() }
	return <-started
}
