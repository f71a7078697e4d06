//go:build unix

package programs

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// running is a started program.
type running struct {
	command     *exec.Cmd
	out, errOut shared
	ended       chan struct{}
}

// start starts a program. If it still runs at the end of the test, it is killed.
func start(t *testing.T, command *exec.Cmd) *running {
	t.Helper()
	r := &running{command: command, ended: make(chan struct{})}
	r.command.Stdout, r.command.Stderr = &r.out, &r.errOut
	require.NoError(t, r.command.Start())
	go func() {
		_ = r.command.Wait()
		close(r.ended)
	}()
	t.Cleanup(func() {
		_ = r.command.Process.Kill()
		<-r.ended
	})
	return r
}

// await waits for an event that the program causes.
func (r *running) await(t *testing.T, event <-chan struct{}) {
	t.Helper()
	select {
	case <-event:
	case <-r.ended:
		require.Fail(t, "the program has ended", "%s%s", &r.out, &r.errOut)
	}
}

// says waits for a text in the output.
func (r *running) says(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(r.out.String(), text) || r.hasEnded() }, limit, 5*time.Millisecond)
	require.Contains(t, r.out.String(), text, &r.errOut)
}

func (r *running) hasEnded() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// interrupt interrupts the program, and returns its exit status.
func (r *running) interrupt(t *testing.T) int {
	t.Helper()
	require.NoError(t, r.command.Process.Signal(os.Interrupt))
	<-r.ended
	return r.command.ProcessState.ExitCode()
}

// shared is a buffer for concurrent reads and writes.
type shared struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (s *shared) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.Write(p)
}

func (s *shared) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.text.String()
}
