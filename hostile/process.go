package hostile

import (
	"context"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"
)

// process is one process of a copy. Its own address identifies its requests.
type process struct {
	run         *run
	copy, start int // both from 1
	cmd         *exec.Cmd
	output      *output
	network     barrier
	responses   barrier       // shut from a freeze until no request is on its way since before the freeze
	exited      chan struct{} // closed when the process has ended

	mu     sync.Mutex // guards all below, and signals
	ended  bool
	frozen bool
	thawed time.Time
}

// String is the name of the process in a timeline.
func (p *process) String() string { return fmt.Sprintf("worker %d.%d", p.copy, p.start) }

// launch starts a process of a copy.
func (r *run) launch(number, start int) (*process, error) {
	p := &process{run: r, copy: number, start: start, exited: make(chan struct{})}
	at, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	r.background.Go(func() { _ = r.gate.Serve(listener{at, p}) }) // until the run ends: requests of a killed process can still arrive
	command := r.options.Command
	if len(command) == 0 {
		self, err := os.Executable()
		if err != nil {
			return nil, err
		}
		command = []string{self}
	}
	if err := os.RemoveAll(r.summaryOf(number)); err != nil {
		return nil, err
	}
	p.cmd = exec.Command(command[0], command[1:]...) //nolint:gosec,noctx // the caller's own program, which supervise ends
	p.cmd.Env = slices.Concat(os.Environ(), r.environment(number, at.Addr().String()), r.options.Env)
	p.output = &output{to: r.log, name: p.String()}
	p.cmd.Stdout, p.cmd.Stderr = p.output, p.output
	p.cmd.WaitDelay = time.Second
	stdin, err := p.cmd.StdinPipe() // open until the process or the harness ends
	if err != nil {
		return nil, err
	}
	ownGroup(p.cmd)
	p.mu.Lock()
	err = p.cmd.Start()
	p.mu.Unlock()
	if err != nil {
		return nil, fmt.Errorf("hostile: the worker cannot be started: %w", err)
	}
	r.background.Go(func() {
		p.wait()
		_ = stdin.Close()
	})
	return p, nil
}

// environment returns the variables of a process of a copy, to which the address belongs.
func (r *run) environment(number int, address string) []string {
	config := r.server.Config()
	return []string{
		"PREPAID_BASE_URL=http://" + address + "/3.0/", "PREPAID_VENDOR=" + config.Vendor, "PREPAID_ENVIRONMENT=test",
		"PREPAID_CLIENT_ID=" + config.ClientID, "PREPAID_CLIENT_SECRET=" + config.ClientSecret.Reveal(),
		"PREPAID_ATTEMPT_TIMEOUT=" + r.options.AttemptTimeout.String(), "PREPAID_RETRY_IN_FLIGHT_WAIT=" + r.options.InFlightWait.String(),
		"PREPAID_RETRY_MIN_WAIT=5ms", "PREPAID_RETRY_MAX_WAIT=50ms", "PREPAID_RETRY_TOKEN_HOLD=20ms",
		"PREPAID_RATE_SHARE=" + strconv.FormatFloat(1/float64(r.options.Copies), 'f', 4, 64),
		envWorker + "=" + strconv.Itoa(number), envPayments + "=" + r.payments(), envDir + "=" + r.shared(), envSummary + "=" + r.summaryOf(number),
	}
}

// payments, shared and summaryOf are the files of the copies.
func (r *run) payments() string { return filepath.Join(r.dir, "payments") }
func (r *run) shared() string   { return filepath.Join(r.dir, "shared") }
func (r *run) summaryOf(number int) string {
	return filepath.Join(r.dir, "summary-"+strconv.Itoa(number))
}

func (p *process) wait() {
	_ = p.cmd.Wait() // ProcessState has the result
	p.mu.Lock()
	p.ended = true
	_ = killGroup(p.cmd) // its children
	p.mu.Unlock()
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

const killWait, restartPause = 20 * time.Millisecond, 20 * time.Millisecond

// supervise runs a copy until it ends with status 0, or ctx ends.
func (r *run) supervise(ctx context.Context, number int) error {
	for start := 1; ; start++ {
		p, err := r.launch(number, start)
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
		r.count(&r.counts.Restarts, true)
		select {
		case <-time.After(restartPause):
		case <-ctx.Done():
			return nil
		}
	}
}
