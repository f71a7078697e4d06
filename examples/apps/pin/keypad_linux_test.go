package main

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"os"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"
	"golang.org/x/term"

	"github.com/cardprograms/prepaid"
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
	return person, program
}

func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	settings, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	require.NoError(t, err)
	return settings.Lflag&unix.ECHO != 0
}

// promptly responds to each printed prompt at once. The echo is off by then.
type promptly struct {
	bytes.Buffer
	answer func(prompt string)
}

func (p *promptly) Write(text []byte) (int, error) {
	if strings.HasSuffix(string(text), ": ") {
		p.answer(string(text))
	}
	return p.Buffer.Write(text)
}

// A terminal does not show the input. Afterwards the echo is on again.
func TestTerminalDoesNotEcho(t *testing.T) {
	t.Parallel()
	person, program := newTerminal(t)
	require.True(t, term.IsTerminal(int(program.Fd())))
	var answers []string
	prompts := &promptly{}
	prompts.answer = func(string) {
		answer := answers[0]
		answers = answers[1:]
		go func() { // the echo shows that the read is running
			for echoes(t, program) {
				runtime.Gosched()
			}
			_, _ = person.WriteString(answer + "\n")
		}()
	}
	keypad := terminal{program, prompts}
	ask := func(ask func(context.Context) (prepaid.Secret, error), typed ...string) (prepaid.Secret, error) {
		answers = typed
		secret, err := ask(t.Context())
		require.Empty(t, answers)
		require.True(t, echoes(t, program))
		return secret, err
	}
	pin, err := ask(keypad.newPIN, "4821", "4821")
	require.NoError(t, err)
	require.Equal(t, "4821", pin.Reveal())
	_, err = ask(keypad.newPIN, "4821", "4812")
	require.ErrorIs(t, err, errDiffer)
	otp, err := ask(keypad.oneTimePassword, "019226")
	require.NoError(t, err)
	require.Equal(t, "019226", otp.Reveal())

	_, err = program.WriteString("end\n")
	require.NoError(t, err)
	shown := ""
	for lines := bufio.NewReader(person); !strings.Contains(shown, "end"); {
		line, err := lines.ReadString('\n')
		require.NoError(t, err)
		shown += line
	}
	for _, secret := range []string{"4821", "4812", "019226"} {
		require.NotContains(t, shown+prompts.String(), secret)
	}
}

// Ctrl+C while typing turns the echo on again.
func TestTerminalInterrupted(t *testing.T) {
	t.Parallel()
	person, program := newTerminal(t)
	ctx, stop := context.WithCancel(t.Context())
	prompts := &promptly{}
	prompts.answer = func(string) {
		go func() {
			for echoes(t, program) {
				runtime.Gosched()
			}
			stop()
		}()
	}
	_, err := terminal{program, prompts}.newPIN(ctx)
	require.ErrorIs(t, err, errStopped)
	require.True(t, echoes(t, program))

	// The read ends before the terminal is closed: its number is soon another terminal's.
	settings, err := unix.IoctlGetTermios(int(program.Fd()), unix.TCGETS)
	require.NoError(t, err)
	settings.Lflag &^= unix.ECHO
	require.NoError(t, unix.IoctlSetTermios(int(program.Fd()), unix.TCSETS, settings))
	_, err = person.WriteString("\n")
	require.NoError(t, err)
	for !echoes(t, program) {
		runtime.Gosched()
	}
}
