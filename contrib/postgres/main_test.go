package prepaidpg

import (
	"context"
	"os"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
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
	shared, errStarted = pgtest.Run(context.Background(), pgtest.Options{})
	goleak.VerifyTestMain(m, goleak.IgnoreCurrent(), goleak.Cleanup(func(code int) {
		if errStarted == nil && shared.Stop() != nil {
			code = 1
		}
		os.Exit(code)
	}))
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
	if err := Migrate(t.Context(), pool, ""); err != nil {
		t.Fatal(err)
	}
	return pool
}
