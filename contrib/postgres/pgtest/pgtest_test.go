package pgtest_test

import (
	"bufio"
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// childVariable makes the test binary a program that starts a server, prints its address and waits to be killed.
const childVariable = "PGTEST_CHILD"

func TestMain(m *testing.M) {
	if os.Getenv(childVariable) != "" {
		server, err := pgtest.Run(context.Background(), pgtest.Options{})
		if err == nil && os.Getenv(childVariable) == "frozen" {
			err = server.Freeze()
		}
		if err != nil {
			_, _ = os.Stdout.WriteString(err.Error())
			os.Exit(1)
		}
		_, _ = os.Stdout.WriteString(server.URL() + "\n")
		time.Sleep(time.Minute)
		os.Exit(1)
	}
	goleak.VerifyTestMain(m)
}

func socketDir(t *testing.T, url string) string {
	t.Helper()
	config, err := pgx.ParseConfig(url)
	require.NoError(t, err)
	return config.Host
}

func count(t *testing.T, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), "select count(*) from x").Scan(&n))
	return n
}

func TestKillKeepsWhatWasCommitted(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{Settings: map[string]string{"max_connections": "17"}})
	pool := server.NewPool(t)
	for _, statement := range []string{"create table x (i int)", "insert into x values (1), (2)"} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	lost, err := pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = lost.Exec(t.Context(), "insert into x values (3)")
	require.NoError(t, err)

	require.NoError(t, server.Kill())
	require.NoError(t, server.Kill(), "it is dead")
	require.Error(t, server.Freeze())
	require.Error(t, lost.Commit(t.Context()))
	require.Error(t, pool.Ping(t.Context()))
	require.NoError(t, server.Restart(t.Context()))
	require.Equal(t, 2, count(t, pool))
	require.Contains(t, server.Log(), "database system was not properly shut down")

	require.NoError(t, server.Restart(t.Context()), "in order")
	pool.Reset()
	require.Equal(t, 2, count(t, pool))
	for name, want := range map[string]string{"fsync": "on", "listen_addresses": "", "max_connections": "17"} {
		var value string
		require.NoError(t, pool.QueryRow(t.Context(), "show "+name).Scan(&value))
		require.Equal(t, want, value, name)
	}
}

func TestFreezeThawCut(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	pool := server.NewPool(t)
	_, err := pool.Exec(t.Context(), "create table x (i int)")
	require.NoError(t, err)

	require.NoError(t, server.Freeze())
	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, pool.Ping(brief), context.DeadlineExceeded, "an open connection")
	_, err = pgx.Connect(brief, server.URL())
	require.Error(t, err, "a new one")
	require.NoError(t, server.Thaw())
	require.Zero(t, count(t, pool))

	held, err := pool.Acquire(t.Context())
	require.NoError(t, err)
	require.NoError(t, server.Cut(t.Context()))
	require.Error(t, held.Ping(t.Context()))
	held.Release()
	pool.Close() // a frozen server does not close its end
	connection, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	require.NoError(t, connection.Close(t.Context()))
	require.NoError(t, server.Freeze()) // and is stopped frozen
}

func TestDatabasesAreSeparate(t *testing.T) {
	t.Parallel()
	server := pgtest.Start(t, pgtest.Options{})
	for range 2 {
		_, err := server.NewPool(t).Exec(t.Context(), "create table x (i int)")
		require.NoError(t, err)
	}
}

func TestStopLeavesNothing(t *testing.T) {
	t.Parallel()
	server, err := pgtest.Run(t.Context(), pgtest.Options{})
	pgtest.Check(t, err)
	dir := socketDir(t, server.URL())
	info, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), info.Mode().Perm())
	require.NoError(t, server.Kill())
	require.NoError(t, server.Stop())
	require.NoDirExists(t, dir)
	require.NoError(t, server.Stop())
	require.Error(t, server.Restart(t.Context()))
	require.NoError(t, server.Kill())
}

// A killed program leaves neither processes nor files.
func TestKilledProgramLeavesNothing(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"running", "frozen"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			pgtest.Start(t, pgtest.Options{}) // skips
			child := exec.Command(os.Args[0]) //nolint:gosec // this very program
			child.Env = append(os.Environ(), childVariable+"="+state)
			output, err := child.StdoutPipe()
			require.NoError(t, err)
			require.NoError(t, child.Start())
			address, err := bufio.NewReader(output).ReadString('\n')
			require.NoError(t, err, address)
			dir := socketDir(t, strings.TrimSpace(address))
			file, err := os.ReadFile(filepath.Join(dir, "data", "postmaster.pid"))
			require.NoError(t, err)
			pid, _, _ := strings.Cut(string(file), "\n")
			require.NoError(t, child.Process.Kill())
			require.Error(t, child.Wait())
			require.Eventually(t, func() bool {
				_, err := os.Stat(dir)
				return errors.Is(err, os.ErrNotExist)
			}, time.Minute, 20*time.Millisecond)
			state, err := exec.Command("ps", "-o", "stat=", "-p", pid).Output()
			require.True(t, err != nil || strings.HasPrefix(string(state), "Z"), "the server runs on: %s", state)
		})
	}
}

func TestStartsInAShortDirectory(t *testing.T) {
	long := filepath.Join(t.TempDir(), strings.Repeat("x", 100)) // nor can others enter it
	require.NoError(t, os.MkdirAll(long, 0o700))
	t.Setenv("TMPDIR", long)
	server := pgtest.Start(t, pgtest.Options{})
	require.True(t, strings.HasPrefix(socketDir(t, server.URL()), "/tmp/pgtest-"))
}

func TestFailures(t *testing.T) {
	t.Parallel()
	_, err := pgtest.Run(t.Context(), pgtest.Options{Binaries: t.TempDir()})
	require.ErrorIs(t, err, pgtest.ErrNotInstalled)
	pgtest.Start(t, pgtest.Options{}) // skips
	_, err = pgtest.Run(t.Context(), pgtest.Options{Settings: map[string]string{"no_such_setting": "1"}})
	require.ErrorContains(t, err, "no_such_setting", "its log")
	require.NotErrorIs(t, err, context.DeadlineExceeded, "its end was noticed")
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_, err = pgtest.Run(over, pgtest.Options{})
	require.ErrorIs(t, err, context.Canceled)
}
