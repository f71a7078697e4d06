// Package emulator runs the program cmd/prepaid-emulator as a process. Its tests are about signals, restarts, printed commands
// and other programs; package page has the tests in a browser.
package emulator

import (
	"bufio"
	"context"
	"io"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/internal/tests/caller"
)

// file is the environment variable with the path of the program.
const file = "PREPAID_TEST_EMULATOR"

// Main builds the program at the root of the repository, whose relative path it gets, and runs the tests of a package with it.
func Main(m *testing.M, root string) {
	directory, err := os.MkdirTemp("", "emulator-")
	if err != nil {
		log.Fatal(err)
	}
	path := filepath.Join(directory, "prepaid-emulator")
	printed, err := exec.CommandContext(context.Background(), "go", "build", "-C", root, "-buildvcs=false", "-o", path, "./cmd/prepaid-emulator").CombinedOutput()
	if err == nil {
		err = os.Setenv(file, path)
	}
	if err != nil {
		_ = os.RemoveAll(directory)
		log.Fatalf("%v: %s", err, printed)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(directory)
		os.Exit(code)
	}))
}

// Process is a running program.
type Process struct {
	*caller.Caller
	*exec.Cmd
	Greeting string

	rest     *bufio.Reader
	problems *strings.Builder
}

// Command is a run of the program that has not begun.
func Command(t testing.TB, arguments ...string) *exec.Cmd {
	t.Helper()
	command := exec.CommandContext(t.Context(), os.Getenv(file), arguments...) //nolint:gosec // what Main has built
	for _, variable := range os.Environ() {
		if !strings.HasPrefix(variable, "PREPAID_") {
			command.Env = append(command.Env, variable)
		}
	}
	return command
}

// Start starts the program on a free port and reads its greeting. The test ends the program.
func Start(t testing.TB, arguments ...string) *Process {
	t.Helper()
	p := &Process{Cmd: Command(t, arguments...), problems: new(strings.Builder)}
	p.Env = append(p.Env, "PREPAID_EMULATOR_LISTEN=127.0.0.1:0")
	p.Stderr = p.problems
	out, err := p.StdoutPipe()
	require.NoError(t, err)
	p.rest = bufio.NewReader(out)
	require.NoError(t, p.Cmd.Start())
	t.Cleanup(func() {
		if p.ProcessState == nil {
			p.Kill()
		}
	})
	var greeting strings.Builder
	for !strings.Contains(greeting.String(), "Ctrl+C") {
		line, err := p.rest.ReadString('\n')
		greeting.WriteString(line)
		if err != nil {
			_ = p.Wait()
			require.NoError(t, err, "no greeting: %s%s", &greeting, p.problems)
		}
	}
	p.Greeting = greeting.String()
	address := regexp.MustCompile(`Page +(http://\S+)`).FindStringSubmatch(p.Greeting)
	require.Len(t, address, 2, p.Greeting)
	p.Caller = caller.New(t, address[1])
	return p
}

// Stop sends a signal, and requires status 0 and returns what the program then prints.
func (p *Process) Stop(signal os.Signal) string {
	p.T.Helper()
	require.NoError(p.T, p.Process.Signal(signal))
	printed, err := io.ReadAll(p.rest)
	require.NoError(p.T, err)
	require.NoError(p.T, p.Wait(), p.problems.String())
	return string(printed)
}

// Kill ends the program at once.
func (p *Process) Kill() {
	_ = p.Process.Kill()
	_, _ = io.Copy(io.Discard, p.rest)
	_ = p.Wait()
}

// Problems returns the program's standard error. Call it after the end of the program.
func (p *Process) Problems() string { return p.problems.String() }

// NeedTool skips the test without an outside program, or fails it if PREPAID_REQUIRE_TOOLS is 1.
func NeedTool(t testing.TB, name string) {
	t.Helper()
	if _, err := exec.LookPath(name); err != nil {
		require.NotEqual(t, "1", os.Getenv("PREPAID_REQUIRE_TOOLS"), "%s is not installed, and PREPAID_REQUIRE_TOOLS=1 asks for it", name)
		t.Skipf("NOT CHECKED: %s is not installed; set PREPAID_REQUIRE_TOOLS=1 to fail instead", name)
	}
}
