// Package emulator runs the program cmd/prepaid-emulator as a process. Its tests are about signals, restarts, printed commands
// and other programs; package page has the tests in a browser.
package emulator

import (
	"os"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/caller"
	"github.com/cardprograms/prepaid/tests/built"
)

// Main builds the program at the root of the repository, whose relative path it gets, and runs the tests of a package with it.
func Main(m *testing.M, root string) {
	built.Main(m, map[string]string{root: "./cmd/prepaid-emulator"})
}

// Process is a running program.
type Process struct {
	*caller.Caller
	*built.Running

	Greeting string
}

// Start starts the program on a free port and reads its greeting. The test ends the program.
func Start(t testing.TB, arguments ...string) *Process {
	t.Helper()
	p := &Process{Running: built.Start(t, built.Command(t, []string{"PREPAID_EMULATOR_LISTEN=127.0.0.1:0"}, "prepaid-emulator", arguments...))}
	p.Says("Ctrl+C stops it.\n")
	p.Greeting = p.Out.String()
	address := regexp.MustCompile(`Page +(http://\S+)`).FindStringSubmatch(p.Greeting)
	require.Len(t, address, 2, p.Greeting)
	p.Caller = caller.New(t, address[1])
	return p
}

// Stop sends a signal, requires status 0 and returns all that the program has printed.
func (p *Process) Stop(signal os.Signal) string {
	p.T.Helper()
	require.Zero(p.T, p.Running.Stop(signal), &p.ErrOut)
	return p.Out.String()
}
