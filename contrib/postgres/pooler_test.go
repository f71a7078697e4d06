//go:build unix

package prepaidpg

import (
	"bytes"
	"context"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// startPooler starts a PgBouncer in front of the shared server that ends with the test, also if the test is killed, and returns its
// address for the database of direct.
func startPooler(t *testing.T, direct *pgxpool.Pool, settings string) string {
	t.Helper()
	program, err := exec.LookPath("pgbouncer")
	if err != nil {
		program, err = exec.LookPath("/usr/sbin/pgbouncer") // not in everybody's PATH
	}
	if err != nil {
		pgtest.Check(t, fmt.Errorf("pgbouncer: %w", pgtest.ErrNotInstalled))
	}
	server := direct.Config().ConnConfig
	dir, err := os.MkdirTemp(server.Host, "pooler-") //nolint:usetesting // the user that runs the server can enter it
	require.NoError(t, err)
	require.NoError(t, os.Chmod(dir, 0o777)) // PgBouncer runs as that user
	config := filepath.Join(dir, "ini")
	require.NoError(t, os.WriteFile(config, fmt.Appendf(nil, `[databases]
* = host=%s user=%s
[pgbouncer]
auth_type = any
unix_socket_dir = %s
listen_port = 6432
%s
`, server.Host, server.User, dir, settings), 0o644))
	arguments := []string{"-c", `"$0" "$@" & cat; kill $!; wait`, program, "--quiet", config}
	if os.Getuid() == 0 {
		arguments = append(arguments, "--user", "nobody")
	}
	pooler := exec.Command("/bin/sh", arguments...) // it ends with its input
	var log bytes.Buffer
	pooler.Stdout, pooler.Stderr = &log, &log
	lifeline, err := pooler.StdinPipe()
	require.NoError(t, err)
	require.NoError(t, pooler.Start())
	t.Cleanup(func() {
		_ = lifeline.Close()
		_ = pooler.Wait()
		if t.Failed() {
			t.Logf("log of PgBouncer:\n%s", log.String())
		}
	})
	query := url.Values{"host": {dir}, "port": {"6432"}, "user": {server.User}}
	address := "postgres:///" + server.Database + "?" + query.Encode()
	require.Eventually(t, func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		connection, err := pgx.Connect(ctx, address)
		if err != nil {
			return false
		}
		defer func() { _ = connection.Close(ctx) }()
		return connection.Ping(ctx) == nil
	}, time.Minute, 20*time.Millisecond)
	return address
}

// Open refuses a pool whose prepared statements would be in other sessions than their use.
func TestOpenRefusesAPoolerInTransactionMode(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		settings, address string
		session           bool
		want              error
	}{
		"transaction":     {settings: "pool_mode = transaction", want: ErrPooler},
		"one connection":  {settings: "pool_mode = transaction\ndefault_pool_size = 1", address: "&pool_max_conns=1", want: ErrPooler},
		"describe":        {settings: "pool_mode = transaction", address: "&default_query_exec_mode=cache_describe", want: ErrPooler},
		"exec":            {settings: "pool_mode = transaction", address: "&default_query_exec_mode=exec"},
		"simple protocol": {settings: "pool_mode = transaction", address: "&default_query_exec_mode=simple_protocol"},
		"mode unknown":    {settings: "pool_mode = session", want: ErrPooler},
		"session":         {settings: "pool_mode = session", session: true},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address := startPooler(t, newPool(t), test.settings)
			pool, options := poolAt(t, address+test.address), testOptions(t)
			options.SessionPooler = test.session
			_, err := Open(t.Context(), pool, options)
			require.ErrorIs(t, err, test.want)
			require.EqualValues(t, 0, pool.Stat().AcquiredConns())
		})
	}
}

// Open needs no other session of a pooler than its pool's.
func TestOpenBehindAFullPooler(t *testing.T) {
	t.Parallel()
	pool := poolAt(t, startPooler(t, newPool(t), "pool_mode = session\nmax_client_conn = 1")+"&pool_max_conns=1")
	options := testOptions(t)
	options.SessionPooler = true
	_, err := Open(t.Context(), pool, options)
	require.NoError(t, err)
}

// Without prepared statements, every method works behind a pooler in transaction mode, and workers pay each payment once.
func TestRunBehindAPooler(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"exec", "simple_protocol"} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			direct := newPool(t)
			pool := poolAt(t, startPooler(t, direct, "pool_mode = transaction\ndefault_pool_size = 5")+"&pool_max_conns=10&default_query_exec_mode="+mode)
			require.NoError(t, Migrate(t.Context(), pool, ""))
			useEverything(t, pool, 100)
		})
	}
}
