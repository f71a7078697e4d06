package main

import (
	"bytes"
	"context"
	"flag"
	"io"
	"log"
	"os"
	"os/signal"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/hostile"
)

// The test binary runs itself as the parts of the program.
const childEnv = "PAYOUTS_TEST_CHILD"

func TestMain(m *testing.M) {
	hostile.Worker(harnessedWorker)
	if os.Getenv(childEnv) != "" {
		ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
		code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
		stop()
		os.Exit(code)
	}
	_ = os.Unsetenv("PREPAID_BASE_URL")                    // of the user's environment
	if err := flag.Set("test.parallel", "4"); err != nil { // tests mostly wait
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m)
}

func TestCommandLine(t *testing.T) { //nolint:paralleltest // it sets the environment
	for name, c := range map[string]struct {
		args []string
		want string
	}{
		"another word":    {[]string{"pay"}, "payouts: nothing was started: it takes web, work, or no argument; see -h\n"},
		"another flag":    {[]string{"work", "-listen", "x"}, "payouts: nothing was started: flag provided but not defined: -listen\n"},
		"a word too many": {[]string{"web", "now"}, "payouts: nothing was started: it takes web, work, or no argument; see -h\n"},
		"no environment":  {[]string{"work"}, "is required"},
	} {
		var errOut bytes.Buffer
		require.Equal(t, exitWrong, run(t.Context(), c.args, io.Discard, &errOut), name)
		require.Contains(t, errOut.String(), c.want, name)
	}

	var errOut bytes.Buffer
	require.Equal(t, exitDone, run(t.Context(), []string{"web", "-h"}, io.Discard, &errOut))
	require.Contains(t, errOut.String(), "Exit status:")
	require.Contains(t, errOut.String(), "-listen")
	t.Setenv("PREPAID_BASE_URL", "https://example.com/3.0/")
	require.Equal(t, exitWrong, run(t.Context(), nil, io.Discard, &errOut))
	require.Contains(t, errOut.String(), "PREPAID_BASE_URL names a service")
}

func TestInterrupted(t *testing.T) {
	t.Parallel()
	d := newStage(t, pgtest.Start(t, pgtest.Options{}))
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	go func() {
		for d.accepted() == 0 && ctx.Err() == nil {
			sleep(ctx, time.Millisecond)
		}
		cancel()
	}()
	require.ErrorIs(t, d.run(ctx, 600, io.Discard), context.Canceled)
}
