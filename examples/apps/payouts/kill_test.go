package main

import (
	"context"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// child is a process of the program. It restarts whenever it ends, until the end of the test.
type child struct {
	mu      sync.Mutex
	process *os.Process
	logs    *logs
	ended   sync.WaitGroup
	over    bool
}

// logs collects the standard error of all processes.
type logs struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func startChild(t *testing.T, logs *logs, environment []string, args ...string) *child {
	t.Helper()
	program, err := os.Executable()
	require.NoError(t, err)
	c := &child{logs: logs}
	start := func() *exec.Cmd {
		c.mu.Lock()
		defer c.mu.Unlock()
		cmd := exec.CommandContext(context.WithoutCancel(t.Context()), program, args...)
		cmd.Env, cmd.Stdout, cmd.Stderr = environment, logs, logs
		if c.over || cmd.Start() != nil {
			return nil
		}
		c.process = cmd.Process
		return cmd
	}
	c.ended.Go(func() {
		for cmd := start(); cmd != nil; cmd = start() {
			_ = cmd.Wait()
			sleep(t.Context(), 200*time.Millisecond)
		}
	})
	t.Cleanup(func() { c.stop(true) })
	return c
}

// kill kills the process at any point.
func (c *child) kill() { c.stop(false) }

func (c *child) stop(over bool) {
	c.mu.Lock()
	c.over = c.over || over
	if c.process != nil {
		_ = c.process.Kill() // it may have ended
	}
	c.mu.Unlock()
	if over {
		c.ended.Wait()
	}
}

// environment passes the settings of the demonstration to a process.
func (d *demo) environment(t *testing.T) []string {
	t.Helper()
	key := filepath.Join(t.TempDir(), "key")
	require.NoError(t, os.WriteFile(key, []byte(d.key.Reveal()), 0o600))
	return append(os.Environ(), childEnv+"=1",
		"PREPAID_BASE_URL="+d.config.BaseURL, "PREPAID_VENDOR="+d.config.Vendor, "PREPAID_ENVIRONMENT=test",
		"PREPAID_CLIENT_ID="+d.config.ClientID,
		"PREPAID_CLIENT_SECRET="+d.config.ClientSecret.Reveal(),
		"PREPAID_ATTEMPT_TIMEOUT="+d.config.AttemptTimeout.String(),
		"PREPAID_RETRY_IN_FLIGHT_WAIT="+d.config.Retry.InFlightWait.String(), "PREPAID_RATE_SHARE=0.25",
		"PREPAID_FLOAT_ACCOUNT="+string(d.float), "PREPAID_PAYOUTS_CALL="+d.call.String(),
		"PREPAID_PAYOUTS_DATABASE="+d.database, "PREPAID_PAYOUTS_KEY_FILE="+key,
	)
}

// The web process, the workers and Postgres are killed while customers order. Each order is paid once, the books agree, and
// no process prints a reference or a secret. Then the test changes all compared data.
func TestKilledAtAnyMoment(t *testing.T) {
	t.Parallel()
	postgres := pgtest.Start(t, pgtest.Options{})
	d := newStage(t, postgres)
	listener, err := net.Listen("tcp", "127.0.0.1:0") // the address on which web listens after each start
	require.NoError(t, err)
	address := listener.Addr().String()
	require.NoError(t, listener.Close())
	shared := &logs{}
	environment := d.environment(t)
	web := startChild(t, shared, environment, "web", "-listen", address)
	var workers []*child
	for range demoWorkers {
		workers = append(workers, startChild(t, shared, environment, "work"))
	}

	kills := []func(){workers[0].kill, web.kill, workers[2].kill, crash(t, postgres), workers[1].kill, web.kill, workers[0].kill}
	over := make(chan struct{})
	go func() {
		defer close(over)
		for n, kill := range kills {
			for d.accepted() < 20*(n+1) && t.Context().Err() == nil {
				sleep(t.Context(), 5*time.Millisecond)
			}
			kill()
		}
	}()
	require.NoError(t, d.customers.shop(t.Context(), "http://"+address+"/orders", 20*(len(kills)+2)))
	<-over
	require.NoError(t, d.settle(t.Context()))
	require.Empty(t, d.differences(t))
	require.Equal(t, 162, d.accepted())
	require.Len(t, d.customers.refused, 18)
	require.Greater(t, d.customers.again.Load(), int64(14), "more than the customers who leave")
	shared.mu.Lock()
	defer shared.mu.Unlock()
	require.NotEmpty(t, shared.text.String())
	for _, canary := range []string{"INVOICE", d.key.Reveal(), d.config.ClientSecret.Reveal()} {
		require.NotContains(t, shared.text.String(), canary)
	}
	d.requireDifferences(t)
}

func (d *demo) accepted() int {
	d.customers.mu.Lock()
	defer d.customers.mu.Unlock()
	return len(d.customers.accepted)
}

// crash returns a function that kills Postgres with all its processes, and starts it again a second later.
func crash(t *testing.T, postgres *pgtest.Server) func() {
	t.Helper()
	return func() {
		if err := postgres.Kill(); err != nil {
			t.Error(err)
		}
		sleep(t.Context(), time.Second)
		if err := postgres.Restart(t.Context()); err != nil {
			t.Error(err)
		}
	}
}
