package prepaidpg

import (
	"context"
	"errors"
	"flag"
	"log"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// shared is the server of tests that neither kill nor freeze it, or its error; spare has addresses of its empty databases.
var (
	shared     *pgtest.Server
	errStarted error
	spare      = make(chan string, 1000)
)

func TestMain(m *testing.M) {
	if text := os.Getenv(workerVariable); text != "" {
		os.Exit(workerMain(text))
	}
	if err := flag.Set("test.parallel", "8"); err != nil { // tests mostly wait
		log.Fatal(err)
	}
	shared, errStarted = pgtest.Run(context.Background(), pgtest.Options{Settings: map[string]string{"max_connections": "300"}})
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		if errStarted == nil && shared.Stop() != nil {
			code = 1
		}
		os.Exit(code)
	}))
}

// ownServer starts a server of one test, with the current schema in a database.
func ownServer(t testing.TB, settings map[string]string) (*pgtest.Server, *pgxpool.Pool) {
	t.Helper()
	server := pgtest.Start(t, pgtest.Options{Settings: settings})
	pool := server.NewPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	return server, pool
}

// emptyPool returns connections to an empty database of the shared server. It uses those of tests that have ended again: a database has
// a thousand files.
func emptyPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pgtest.Check(t, errStarted)
	var address string
	select {
	case address = <-spare:
	default:
		address = shared.NewDatabase(t)
	}
	t.Cleanup(func() {
		if !t.Failed() && empty(address) == nil {
			spare <- address
		}
	})
	pool, err := pgxpool.New(context.Background(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// empty removes all that a test has left in a database.
func empty(address string) error {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	c, err := pgx.Connect(ctx, address)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, `do $$ declare name text; begin
		for name in select nspname from pg_namespace where nspname !~ '^pg_' and nspname <> 'information_schema' loop
			execute format('drop schema %I cascade', name);
		end loop;
		create schema public authorization pg_database_owner;
		grant usage on schema public to public;
		execute format('alter database %I reset all', current_database());
	end $$`)
	return errors.Join(err, c.Close(ctx))
}

// newPool returns connections to a database of the shared server that has the current schema.
func newPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := emptyPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	return pool
}

func poolAt(t *testing.T, address string) *pgxpool.Pool {
	t.Helper()
	pool, err := pgxpool.New(t.Context(), address)
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}
