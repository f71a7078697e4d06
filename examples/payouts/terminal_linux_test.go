package main

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// newTerminal returns both ends of a terminal: the person's and the program's.
func newTerminal(t *testing.T) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR, 0)
	if err != nil {
		t.Skip("this system has no terminals to open: ", err)
	}
	t.Cleanup(func() { _ = person.Close() })
	number, err := unix.IoctlGetInt(int(person.Fd()), unix.TIOCGPTN)
	require.NoError(t, err)
	require.NoError(t, unix.IoctlSetPointerInt(int(person.Fd()), unix.TIOCSPTLCK, 0))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	require.NoError(t, err)
	t.Cleanup(func() { _ = program.Close() })
	require.NoError(t, unix.IoctlSetWinsize(int(person.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: 40, Col: 120}))
	return person, program
}

// startOnTerminal runs the program on a terminal, and returns the person's end and what it shows.
func startOnTerminal(t *testing.T) (*os.File, *safeBuffer, *exec.Cmd) {
	t.Helper()
	person, program := newTerminal(t)
	path, err := os.Executable()
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), path)
	cmd.Env = append(os.Environ(), childEnv+"=program")
	cmd.Stdin, cmd.Stdout, cmd.Stderr = program, program, program
	require.NoError(t, cmd.Start())
	shown := &safeBuffer{}
	go func() { _, _ = io.Copy(shown, person) }() // until the terminal is closed
	return person, shown, cmd
}

func (b *safeBuffer) waitFor(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(b.String(), text) }, 30*time.Second, 20*time.Millisecond, "%s in %s", text, b)
}

// Each key does what the last line of the view says, and the terminal is as before at the end.
func TestEachKey(t *testing.T) {
	t.Parallel()
	pgtest.Start(t, pgtest.Options{}) // or skips the test
	keys, shown, cmd := startOnTerminal(t)
	before, err := unix.IoctlGetTermios(int(keys.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NotZero(t, before.Lflag&unix.ECHO)
	for _, press := range []struct{ key, shows string }{
		{"", "worker 3"}, {"", " 10 paid"}, {"1", "worker 1 killed"}, {"x", ""}, {"w", "web killed"}, {"f", " frozen (pid "},
		{"l", "20 payments are made, and their responses lost"}, {"p", "Postgres killed"}, {"", "Postgres accepts connections again"},
		{"3", "worker 3 killed"}, {"q", "no more orders; what was ordered is paid"},
		{"k", ""}, {"", "ends as soon as everything is paid"}, {"", "proven      each order is paid once"},
	} {
		_, err := io.WriteString(keys, press.key)
		require.NoError(t, err)
		shown.waitFor(t, press.shows)
	}
	require.NoError(t, cmd.Wait(), "%s", shown)
	after, err := unix.IoctlGetTermios(int(keys.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.Equal(t, before.Lflag, after.Lflag)
}

// Ctrl+C proves nothing, and leaves nothing running.
func TestGiveUp(t *testing.T) {
	t.Parallel()
	pgtest.Start(t, pgtest.Options{})
	keys, shown, cmd := startOnTerminal(t)
	shown.waitFor(t, " paid")
	_, err := io.WriteString(keys, "\x03")
	require.NoError(t, err)
	require.EqualError(t, cmd.Wait(), "exit status 3", "%s", shown)
	require.Contains(t, shown.String(), "payouts: interrupted: nothing is proven")
	terminal, err := unix.IoctlGetTermios(int(keys.Fd()), unix.TCGETS)
	require.NoError(t, err)
	require.NotZero(t, terminal.Lflag&unix.ECHO)
}
