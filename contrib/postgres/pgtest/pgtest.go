// Package pgtest runs a private, real Postgres for demonstrations, and for tests of a program that keeps its
// payments in Postgres. It uses the installed Postgres, without a download or a container.
//
// A server takes about 0.7 s to start. Tests that do not kill, freeze or cut a server can share it, each with its own
// database; see the example of [Run].
//
// # Where the server runs
//
// The server listens only on a Unix socket, in a new directory below /tmp that only its user can enter. Clients connect as superuser
// "postgres" without a password. Postgres refuses to run as root: for root, the server runs as the user "nobody". Commits survive a crash.
//
// Stop ends the server and removes the directory. A small shell process does the same when the program ends, even by SIGKILL.
// Postgres 14 or later and a Unix system are needed.
package pgtest

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrNotInstalled: no Postgres was found, or the system is not Unix. The returned error adds the reason.
var ErrNotInstalled = errors.New("no Postgres is installed")

const (
	startLimit = 60 * time.Second // for the start of a server, even after a crash
	closeLimit = 30 * time.Second // for closing a pool
)

// Options configures a server. The zero value is ready for use.
type Options struct {
	// Binaries is the directory with initdb and postgres. If empty, PATH is searched, then the directories
	// of Debian's, Red Hat's and Homebrew's packages, newest version first.
	Binaries string
	// Settings are parameters of postgresql.conf. With "fsync": "off" the server is faster, but a crash of the machine (not of the
	// server) may lose commits.
	Settings map[string]string
}

// Start starts a server, stops it at the end of the test, and fails the test on an error. A failed test logs the
// server's log. Without an installed Postgres, Start skips the test; see [Check].
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

// Check ends a test for which [Run] returned an error: it skips the test if err is [ErrNotInstalled] and
// PREPAID_TEST_POSTGRES is not "required", and fails it otherwise.
func Check(tb testing.TB, err error) {
	tb.Helper()
	if errors.Is(err, ErrNotInstalled) && os.Getenv("PREPAID_TEST_POSTGRES") != "required" {
		tb.Skipf("%v; PREPAID_TEST_POSTGRES=required makes this a failure", err)
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

// NewDatabase creates an empty database and returns its address. The database lasts as long as the server.
func (s *Server) NewDatabase(tb testing.TB) string {
	tb.Helper()
	name := fmt.Sprintf("test_%d", s.databases.Add(1))
	if err := s.exec(tb.Context(), "create database "+name); err != nil {
		tb.Fatalf("pgtest: %v", err)
	}
	return s.address(name)
}

// NewPool creates an empty database and returns a pool of connections to it. The pool is closed at the end of the test:
// then no connection may be in use. Other pools can use pool.Config().ConnString().
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

// Cut closes all present connections of clients. They can connect again at once.
func (s *Server) Cut(ctx context.Context) error {
	return s.exec(ctx, `select pg_terminate_backend(pid) from pg_stat_activity
		where backend_type = 'client backend' and pid <> pg_backend_pid()`)
}

// Log returns the server's log.
func (s *Server) Log() string {
	data, err := os.ReadFile(s.logPath())
	if err != nil {
		return err.Error()
	}
	return string(data)
}
