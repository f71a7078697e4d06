package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/signal"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/prepaidtest/hostile"
)

// The test binary runs itself as the processes of the demonstration.
const childEnv = "PAYOUTS_TEST_CHILD"

func TestMain(m *testing.M) {
	hostile.Worker("payouts", harnessedWorker)
	switch os.Getenv(childEnv) {
	case "program":
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	case "idle":
		os.Exit(idle())
	case "wrong":
		os.Exit(exitWrong)
	}
	for _, name := range []string{"PREPAID_BASE_URL", "PREPAID_PAYOUTS_DATABASE", "DATABASE_URL"} {
		_ = os.Unsetenv(name) // of whoever runs the tests
	}
	_ = os.Setenv(childEnv, "program")
	goleak.VerifyTestMain(m)
}

// idle is a process that has nothing to do.
func idle() int {
	ctx, report, release := supervised(context.Background(), true, os.Stdin, os.Stdout)
	defer release()
	report.ready()
	report.paid.Add(7)
	<-ctx.Done()
	return exitProven
}

func TestCommandLine(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"another word":    {[]string{"pay"}, "payouts: nothing was started: there is web, work, or no word at all; see -h\n"},
		"another flag":    {[]string{"work", "-listen", "x"}, "payouts: nothing was started: flag provided but not defined: -listen; see -h\n"},
		"a word too many": {[]string{"web", "now"}, "payouts: nothing was started: flags only; see -h\n"},
		"negative":        {[]string{"-orders", "-1"}, "payouts: nothing was started: -orders must not be negative\n"},
		"no environment":  {[]string{"work"}, "is required"},
		"no directory":    {[]string{"-log", "/no/such/directory/log"}, "payouts: nothing was started: -log: open /no/such/directory/log"},
	} {
		var errOut bytes.Buffer
		require.Equal(t, exitWrong, run(t.Context(), c.args, os.Stdin, io.Discard, &errOut), name)
		require.Contains(t, errOut.String(), c.want, name)
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	var errOut bytes.Buffer
	require.Equal(t, exitProven, run(t.Context(), []string{"-h"}, os.Stdin, io.Discard, &errOut))
	require.Contains(t, errOut.String(), "Exit status:")
	require.Contains(t, errOut.String(), "-orders")
}

// Output that nobody gets proves nothing to anybody.
func TestOutputLost(t *testing.T) {
	t.Parallel()
	out := &output{to: failing{}}
	_, err := out.Write([]byte("x"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
	_, err = out.Write([]byte("y"))
	require.ErrorIs(t, err, io.ErrClosedPipe)
}

type failing struct{}

func (failing) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }
