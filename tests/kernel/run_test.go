//go:build linux

package kernel

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/netns"
)

// process is a payer that runs.
type process struct {
	*testing.T
	*exec.Cmd
	input  io.Writer
	events chan event
	seen   []event
	killed time.Time
}

func start(t *testing.T, link *netns.Link, s setup) *process {
	t.Helper()
	text, err := json.Marshal(s)
	require.NoError(t, err)
	p := &process{T: t, Cmd: exec.Command(os.Args[0]), events: make(chan event, 1<<14)} //nolint:gosec // this very program; it is killed
	p.Env = append(os.Environ(), payerVariable+"="+string(text))
	p.Stderr = os.Stderr
	p.input, err = p.StdinPipe()
	require.NoError(t, err)
	output, err := p.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, link.Start(p.Cmd))
	go func() {
		defer close(p.events)
		for lines := bufio.NewScanner(output); lines.Scan(); {
			var e event
			if json.Unmarshal(lines.Bytes(), &e) == nil {
				p.events <- e
			}
		}
	}()
	t.Cleanup(p.kill)
	return p
}

// await waits until the payer has printed n such lines.
func (p *process) await(what string, n int) {
	p.Helper()
	require.True(p, p.has(what, n, time.Minute), "%d of %d %s: %v", p.count(what), n, what, p.seen)
}

// has reports whether the payer has printed n such lines within limit.
func (p *process) has(what string, n int, limit time.Duration) bool {
	p.Helper()
	over := time.After(limit)
	for p.count(what) < n {
		select {
		case e, ok := <-p.events:
			require.True(p, ok, "the payer ended, with %d of %d %s", p.count(what), n, what)
			p.seen = append(p.seen, e)
		case <-over:
			return false
		}
	}
	return true
}

func (p *process) count(what string) (n int) {
	for _, e := range p.seen {
		if e.What == what {
			n++
		}
	}
	return n
}

func (p *process) first(what string) event {
	return p.seen[slices.IndexFunc(p.seen, func(e event) bool { return e.What == what })]
}

// ports returns the ports of the connections of such lines.
func (p *process) ports(what string) map[int]bool {
	ports := map[int]bool{}
	for _, e := range p.seen {
		if e.What == what {
			ports[e.Port] = true
		}
	}
	return ports
}

// queued reports whether the kernel keeps, within limit, the unacknowledged requests of n connections.
func (p *process) queued(n int, limit time.Duration) bool {
	p.Helper()
	ours := p.ports(connected)
	for began := time.Now(); time.Since(began) < limit; time.Sleep(time.Millisecond) {
		table, err := os.ReadFile(fmt.Sprintf("/proc/%d/net/tcp", p.Process.Pid))
		require.NoError(p, err)
		kept := 0
		for line := range strings.Lines(string(table)) {
			var number, from, state, length int
			var address, remote string
			_, err := fmt.Sscanf(line, "%d: %8s:%x %13s %x %x", &number, &address, &from, &remote, &state, &length)
			if err == nil && ours[from] && length >= least {
				kept++
			}
		}
		if kept == n {
			return true
		}
	}
	return false
}

func (p *process) command(line string) {
	p.Helper()
	_, err := io.WriteString(p.input, line+"\n")
	require.NoError(p, err)
}

// kill kills the payer with SIGKILL and collects its output.
func (p *process) kill() {
	if !p.killed.IsZero() {
		return
	}
	_ = p.Process.Kill()
	for e := range p.events { // to the end of its output
		p.seen = append(p.seen, e)
	}
	_ = p.Wait()
	p.killed = time.Now()
}

const (
	// reported is how late an end may be reported, or its connection be aborted after it.
	reported = 50 * time.Millisecond
	// firstTimer is how much later than the attempt's limit the kernel may send for the last time in a process that is stopped:
	// TCP_USER_TIMEOUT counts from the first retransmission by timer, measured 0.42 s after the request.
	firstTimer = 500 * time.Millisecond
	// least is the payload of a segment that has a part of a request: a message that ends TLS or HTTP/2 is shorter.
	least = 100
)

// late returns how many segments with parts of requests left before the end of their attempts, and those that left after it.
func (p *process) late(segments []netns.Segment, limit time.Duration) (before int, after []string) {
	for i, sent := range p.seen {
		if sent.What != writing {
			continue
		}
		until, bound := time.Now(), sent.At.Add(limit+firstTimer)
		for _, e := range p.seen[i+1:] {
			if e.Port != sent.Port || e.What != writing && e.What != ended {
				continue
			}
			if e.What == writing {
				until = e.At
				break
			}
			if e.At.Add(reported).Before(bound) {
				bound = e.At.Add(reported)
			}
		}
		if !p.killed.IsZero() && p.killed.Before(bound) {
			bound = p.killed
		}
		for _, s := range segments {
			switch {
			case s.From != sent.Port || s.At.Before(sent.At) || s.At.After(until):
			case s.Opens:
				until = s.At // of another connection with this port
			case s.Length < least:
			case s.At.After(bound):
				after = append(after, fmt.Sprintf("%d bytes from port %d, %v after it had its connection and %v after its end",
					s.Length, s.From, s.At.Sub(sent.At), s.At.Sub(bound)))
			default:
				before++
			}
		}
	}
	return before, after
}

// aborted returns how many of the payer's connections it has reset.
func (p *process) aborted(segments []netns.Segment) int {
	ours, reset := p.ports(writing), map[int]bool{}
	for _, s := range segments {
		if s.Reset && ours[s.From] {
			reset[s.From] = true
		}
	}
	return len(reset)
}
