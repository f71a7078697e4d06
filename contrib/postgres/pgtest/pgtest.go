// Package pgtest runs a private, real Postgres for the tests of a program that keeps its payments there, and for
// demonstrations. It uses the Postgres that is installed; it downloads nothing and needs no container.
//
//	func TestPayouts(t *testing.T) {
//		server := pgtest.Start(t, pgtest.Options{})
//		pool := server.NewPool(t)
//		…
//		require.NoError(t, server.Kill())               // the machine of the database crashes
//		require.NoError(t, server.Restart(t.Context())) // and comes back
//	}
//
// A server takes about 0.7 s to start. Tests that do not kill, freeze or cut it can share one, each with a database of its
// own; see the example of [Run].
//
// # Where the server runs
//
// The server listens on a Unix socket in a new directory below [os.TempDir] that only its user can enter, not on the
// network, and accepts each connection as superuser "postgres" without a password. Postgres refuses to run as root: for
// root, the server runs as the user "nobody". It keeps acknowledged commits (fsync is on) unless [Options].NoSync is set.
//
// Stop ends the server and removes the directory. So does the end of the program, however it ends: a small shell process
// waits for it. Postgres 14 or later and a Unix system are needed.
//
// # Tests without Postgres
//
// Where no Postgres is installed, [Start] skips the test. Set PREPAID_POSTGRES=required, such as in CI, to make it fail
// instead.
package pgtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotInstalled is returned, wrapped in the reason, if no Postgres was found, or if the system is not Unix.
var ErrNotInstalled = errors.New("no Postgres is installed")

const (
	startLimit = 60 * time.Second // of a server, also after a crash
	closeLimit = 5 * time.Second  // of a pool
)

// Options configures a server. The zero value is ready for use.
type Options struct {
	// Binaries is the directory with initdb and postgres. If empty, PATH is searched, then the newest version below
	// /usr/lib/postgresql, /usr/local/opt and /opt/homebrew/opt.
	Binaries string
	// NoSync switches fsync off: faster, and a crash of the machine, but not of the server, may lose commits.
	NoSync bool
	// Settings are parameters of postgresql.conf, such as "max_connections": "300".
	Settings map[string]string
}

// Start starts a server that is stopped at the end of the test, and fails the test if it cannot. If the test fails, the
// server's last log lines are part of its log. Where no Postgres is installed, the test is skipped; see [Check].
func Start(tb testing.TB, options Options) *Server {
	tb.Helper()
	server, err := Run(tb.Context(), options)
	Check(tb, err)
	tb.Cleanup(func() {
		if tb.Failed() {
			tb.Logf("log of Postgres:\n%s", server.Log())
		}
		if err := server.Stop(); err != nil {
			tb.Errorf("pgtest: %v", err)
		}
	})
	return server
}

// Check ends a test for which [Run] returned an error: it skips the test if err is [ErrNotInstalled] and the environment
// does not have PREPAID_POSTGRES=required, and fails it otherwise.
func Check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, ErrNotInstalled) && os.Getenv("PREPAID_POSTGRES") != "required" {
		tb.Skipf("%v; PREPAID_POSTGRES=required makes this a failure", err)
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// URL returns the address of the database "postgres", for pgx, psql and other programs that use libpq's form.
func (s *Server) URL() string { return s.address("postgres") }

func (s *Server) address(database string) string {
	query := url.Values{"host": {s.dir}, "user": {superuser}}
	return "postgres:///" + database + "?" + query.Encode()
}

// NewDatabase creates an empty database and returns its address. It lasts as long as the server.
func (s *Server) NewDatabase(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	if err := s.exec(tb.Context(), "create database "+name); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return s.address(name)
}

// NewPool creates an empty database and returns connections to it, which are closed at the end of the test, and
// must not be in use any more then. Other pools can use its pool.Config().ConnString().
func (s *Server) NewPool(tb testing.TB) *pgxpool.Pool {
	tb.Helper()
	pool, err := pgxpool.New(context.Background(), s.NewDatabase(tb))
	if err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	tb.Cleanup(func() {
		closed := make(chan struct{})
		go func() {
			pool.Close()
			close(closed)
		}()
		select {
		case <-closed:
		case <-time.After(closeLimit):
			tb.Error("pgtest: a connection or a transaction of the pool is still in use at the end of the test")
		}
	})
	return pool
}

// Cut closes every connection that clients have at the moment. They can connect again at once.
func (s *Server) Cut(ctx context.Context) error {
	return s.exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
		where backend_type = 'client backend' and pid <> pg_backend_pid()`)
}

// Log returns the last lines of the server's log, at most 16 KiB.
func (s *Server) Log() string {
	data, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	const most = 16 << 10
	if len(data) > most {
		_, data, _ = bytes.Cut(data[len(data)-most:], []byte("\n"))
	}
	return string(data)
}
