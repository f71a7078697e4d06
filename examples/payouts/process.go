package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// restartPause is how long after its end a process is started again.
const restartPause = 500 * time.Millisecond

// process is a child process. It is started again whenever it ends, until it is stopped.
type process struct {
	name        string
	args        []string
	environment []string
	logs        io.Writer // gets what it writes to standard error
	event       func(format string, args ...any)

	mu       sync.Mutex
	running  *os.Process // nil between two runs
	input    io.Closer   // the process ends when it is closed
	frozen   time.Time   // since when; zero if it runs
	last     report      // of this run
	earlier  report      // of the runs before
	kills    int
	killed   bool // this run, by kill
	stopping bool
}

// run returns when the process has ended after stop, or cannot be started at all. When ctx ends, it is killed.
func (p *process) run(ctx context.Context) error {
	runtime.LockOSThread() // see endWithParent
	defer runtime.UnlockOSThread()
	for {
		err := p.once(ctx)
		if p.isStopping() || ctx.Err() != nil {
			return nil
		}
		if ended, ok := errors.AsType[*exec.ExitError](err); !ok && err != nil || ok && ended.ExitCode() == exitWrong {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if !p.wasKilled() {
			p.event("%s ended (%s); it starts again", p.name, reason(err))
		}
		sleep(ctx, restartPause)
	}
}

func reason(err error) string {
	if err == nil {
		return "exit status 0"
	}
	return err.Error()
}

// once runs the process once.
func (p *process) once(ctx context.Context) error {
	program, err := os.Executable()
	if err != nil {
		return err
	}
	cmd := exec.CommandContext(ctx, program, p.args...) //nolint:gosec // this very program
	cmd.Env, cmd.Stderr = p.environment, p.logs
	endWithParent(cmd)
	input, err := cmd.StdinPipe()
	if err != nil {
		return err
	}
	output, err := cmd.StdoutPipe()
	if err != nil {
		return err
	}
	if started, err := p.start(cmd, input); !started {
		return err
	}
	for lines := bufio.NewScanner(output); lines.Scan(); {
		var r report
		if json.NewDecoder(bytes.NewReader(lines.Bytes())).Decode(&r) == nil {
			p.mu.Lock()
			p.last = r
			p.mu.Unlock()
		}
	}
	err = cmd.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.running, p.frozen = nil, time.Time{}
	p.earlier.Paid += p.last.Paid
	p.earlier.Unknown += p.last.Unknown
	p.earlier.Orders += p.last.Orders
	p.last = report{}
	return err
}

// start starts cmd, unless the process is to stop.
func (p *process) start(cmd *exec.Cmd, input io.Closer) (bool, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stopping {
		return false, nil
	}
	if err := cmd.Start(); err != nil {
		return false, err
	}
	p.running, p.input, p.killed = cmd.Process, input, false
	return true, nil
}

func (p *process) isStopping() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stopping
}

func (p *process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// stop lets the process finish what it is doing and end; run then returns.
func (p *process) stop() {
	p.thaw()
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopping = true
	if p.running != nil {
		_ = p.input.Close() // may have ended just now
	}
}

// kill kills the process as a machine does that loses its power: it learns nothing of it.
func (p *process) kill() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.running.Kill() != nil {
		return false
	}
	p.kills++
	p.killed = true
	p.event("%s killed (pid %d); it starts again", p.name, p.running.Pid)
	return true
}

// freeze stops the process in the middle of what it is doing, as a machine does that is moved or swaps.
func (p *process) freeze() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || !p.frozen.IsZero() || pauseProcess(p.running) != nil {
		return false
	}
	p.frozen = time.Now()
	p.event("%s frozen (pid %d)", p.name, p.running.Pid)
	return true
}

// thaw lets it continue, as if no time had passed.
func (p *process) thaw() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.running == nil || p.frozen.IsZero() || continueProcess(p.running) != nil {
		return
	}
	p.event("%s continues after %.1f s", p.name, time.Since(p.frozen).Seconds())
	p.frozen = time.Time{}
}

// standing is what the view shows of a process.
type standing struct {
	Name    string
	PID     int    // 0 while it does not run
	Doing   string // in words
	Paid    int64  // in all its runs
	Unknown int64
	Orders  int64
	Kills   int
}

func (p *process) standing() standing {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := standing{
		Name: p.name, Kills: p.kills, Paid: p.earlier.Paid + p.last.Paid,
		Unknown: p.earlier.Unknown + p.last.Unknown, Orders: p.earlier.Orders + p.last.Orders,
	}
	if p.running != nil {
		s.PID = p.running.Pid
	}
	switch {
	case p.running == nil && p.stopping:
		s.Doing = "ended"
	case p.running == nil:
		s.Doing = "starts again"
	case !p.frozen.IsZero():
		s.Doing = fmt.Sprintf("frozen for %.0f s", time.Since(p.frozen).Seconds())
	case !p.last.Ready:
		s.Doing = "starts"
	case p.last.Sending > 0:
		s.Doing = fmt.Sprintf("sends %d", p.last.Sending)
	default:
		s.Doing = "waits"
	}
	return s
}
