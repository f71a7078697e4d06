package prepaidpg

import (
	"context"
	"flag"
	"log"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
)

// shared is the server of tests that neither kill nor freeze it, or its error.
var (
	shared     *pgtest.Server
	errStarted error
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

// emptyPool returns connections to an empty database of the shared server.
func emptyPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pgtest.Check(t, errStarted)
	return shared.NewPool(t)
}

// newPool returns connections to a database of the shared server that has the current schema.
func newPool(t testing.TB) *pgxpool.Pool {
	t.Helper()
	pool := emptyPool(t)
	require.NoError(t, Migrate(t.Context(), pool, ""))
	return pool
}
