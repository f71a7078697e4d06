// Package built builds programs of the repository and runs them as processes.
package built

import (
	"bytes"
	"errors"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// directory is the environment variable with the directory of the programs.
const directory = "PREPAID_TEST_PROGRAMS"

// Main builds programs and runs the tests of a package with them. The packages of programs are by the directories of their modules.
func Main(m *testing.M, programs map[string]string) {
	path, err := os.MkdirTemp("", "prepaid-built-")
	for module, packages := range programs {
		var printed []byte
		if err == nil {
			printed, err = exec.Command("go", "-C", module, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", path+"/", packages).CombinedOutput()
		}
		_, _ = os.Stderr.Write(printed)
	}
	if err = errors.Join(err, os.Setenv(directory, path)); err != nil {
		_ = os.RemoveAll(path)
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(path)
		os.Exit(code)
	}))
}

// Command is a program that is not started yet. It sees only the given PREPAID_ variables.
func Command(t testing.TB, environment []string, name string, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), filepath.Join(os.Getenv(directory), name), arguments...) //nolint:gosec // what Main has built
	command.Env = append(slices.DeleteFunc(os.Environ(), func(variable string) bool { return strings.HasPrefix(variable, "PREPAID_") }), environment...)
	return command
}

// Running is a started program.
type Running struct {
	Out, ErrOut Text

	t       testing.TB
	command *exec.Cmd
	ended   chan struct{}
}

// Start starts a program. The test ends the program.
func Start(t testing.TB, command *exec.Cmd) *Running {
	t.Helper()
	r := &Running{t: t, command: command, ended: make(chan struct{})}
	command.Stdout, command.Stderr = &r.Out, &r.ErrOut
	require.NoError(t, command.Start())
	go func() {
		_ = command.Wait()
		close(r.ended)
	}()
	t.Cleanup(r.Kill)
	return r
}

// Run runs a program to its end.
func Run(t testing.TB, command *exec.Cmd) (code int, out, errOut string) {
	t.Helper()
	r := Start(t, command)
	<-r.ended
	return command.ProcessState.ExitCode(), r.Out.String(), r.ErrOut.String()
}

// Says waits until the program has printed a text.
func (r *Running) Says(text string) {
	r.t.Helper()
	said := func() bool { return strings.Contains(r.Out.String()+r.ErrOut.String(), text) }
	require.Eventually(r.t, func() bool {
		select {
		case <-r.ended:
			return true
		default:
			return said()
		}
	}, 5*time.Minute, 5*time.Millisecond)
	require.True(r.t, said(), "not %q: %s%s", text, &r.Out, &r.ErrOut)
}

// Stop sends a signal, waits for the end and returns the exit status.
func (r *Running) Stop(signal os.Signal) int {
	r.t.Helper()
	require.NoError(r.t, r.command.Process.Signal(signal))
	<-r.ended
	return r.command.ProcessState.ExitCode()
}

// Kill ends the program at once.
func (r *Running) Kill() {
	_ = r.command.Process.Kill() // it may have ended
	<-r.ended
}

// Text is a buffer for concurrent reads and writes.
type Text struct {
	mu   sync.Mutex
	text bytes.Buffer
}

// Write appends to the text.
func (b *Text) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

// String returns the text so far.
func (b *Text) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

// NeedTool skips the test without an outside program, or fails it if PREPAID_TEST_REQUIRE_TOOLS is 1.
func NeedTool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		require.NotEqual(t, "1", os.Getenv("PREPAID_TEST_REQUIRE_TOOLS"), "%s is not installed, and PREPAID_TEST_REQUIRE_TOOLS=1 asks for it", name)
		t.Skipf("NOT CHECKED: %s is not installed; set PREPAID_TEST_REQUIRE_TOOLS=1 to fail instead", name)
	}
}
