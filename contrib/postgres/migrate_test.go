package prepaidpg

import (
	"context"
	"crypto/rand"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
)

// nextMigrations are those of a later program.
func nextMigrations(t *testing.T) []Migration {
	t.Helper()
	text, err := os.ReadFile("testdata/0004_additive.sql")
	require.NoError(t, err)
	return append(Migrations(), Migration{Version: 4, Name: "0004_additive.sql", SQL: string(text)})
}

func text(t *testing.T, pool *pgxpool.Pool, query string, arguments ...any) (value string) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), query, arguments...).Scan(&value))
	return value
}

func TestMigrations(t *testing.T) {
	t.Parallel()
	for i, m := range Migrations() {
		require.Equal(t, i+1, m.Version)
		require.Regexp(t, `^\d{4}_[a-z_]+\.sql$`, m.Name)
		require.True(t, strings.HasPrefix(m.Name, fmt.Sprintf("%04d_", m.Version)))
		require.NotContains(t, m.SQL, "search_path to")
	}
}

func TestMigrateTwice(t *testing.T) {
	t.Parallel()
	pool := emptyPool(t)
	require.ErrorIs(t, checkVersion(t.Context(), pool, "prepaid", 1), ErrSchemaOld, "there is none")
	require.NoError(t, Migrate(t.Context(), pool, ""))
	applied := text(t, pool, "select max(applied)::text from prepaid.versions")
	require.NoError(t, Migrate(t.Context(), pool, "prepaid"))
	require.Equal(t, applied, text(t, pool, "select max(applied)::text from prepaid.versions"))
	require.NoError(t, checkVersion(t.Context(), pool, "prepaid", 1))
	require.Equal(t, "0", text(t, pool, "select count(*)::text from pg_class where relnamespace = 'public'::regnamespace"))
	require.Equal(t, `"$user", public`, text(t, pool, "show search_path"), "of the session")

	require.NoError(t, Migrate(t.Context(), pool, "other"))
	require.Equal(t, "3", text(t, pool, "select count(*)::text from other.versions"))
}

// Ten processes start at once.
func TestMigrateAtOnce(t *testing.T) {
	t.Parallel()
	pool := emptyPool(t)
	migrations := nextMigrations(t)
	var wg sync.WaitGroup
	failed := make([]error, 10)
	for i := range failed {
		wg.Go(func() {
			own, err := pgxpool.New(t.Context(), pool.Config().ConnString())
			if err == nil {
				defer own.Close()
				err = migrate(t.Context(), own, "", migrations)
			}
			failed[i] = err
		})
	}
	wg.Wait()
	for _, err := range failed {
		require.NoError(t, err)
	}
	require.Equal(t, "4", text(t, pool, "select count(*)::text from prepaid.versions"))
}

func TestMigrateChangedFile(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	changed := nextMigrations(t)
	changed[0].SQL += "\n"
	err := migrate(t.Context(), pool, "", changed)
	require.ErrorIs(t, err, ErrMigrationChanged)
	require.ErrorContains(t, err, "0001_payments.sql")
	require.Equal(t, "3", text(t, pool, "select count(*)::text from prepaid.versions"), "nor was the next applied")
}

// A failed version changes nothing; earlier versions remain.
func TestMigrateFails(t *testing.T) {
	t.Parallel()
	pool := emptyPool(t)
	migrations := append(Migrations(), Migration{Version: 4, Name: "0004_bad.sql", SQL: "create table halves (); select 1/0; insert into versions values (4)"})
	require.ErrorContains(t, migrate(t.Context(), pool, "", migrations), "0004_bad.sql")
	require.Equal(t, "3", text(t, pool, "select count(*)::text from prepaid.versions"))
	require.Equal(t, "t", text(t, pool, "select (to_regclass('prepaid.halves') is null)::text::char"))
	require.NoError(t, migrate(t.Context(), pool, "", nextMigrations(t)), "it can be fixed")
}

// A migration that waits for a busy table lets others use it, and succeeds in the end.
func TestMigrateBusyTable(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	busy, err := pool.Begin(t.Context())
	require.NoError(t, err)
	defer func() { _ = busy.Rollback(context.WithoutCancel(t.Context())) }()
	_, err = busy.Exec(t.Context(), "select from prepaid.payments")
	require.NoError(t, err)

	brief, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	require.ErrorIs(t, migrate(brief, pool, "", nextMigrations(t)), context.DeadlineExceeded)

	migrated := make(chan error, 1)
	go func() { migrated <- migrate(t.Context(), pool, "", nextMigrations(t)) }()
	require.Eventually(t, func() bool {
		return text(t, pool, "select count(*)::text from pg_locks where not granted and relation = 'prepaid.payments'::regclass") == "1"
	}, time.Minute, 5*time.Millisecond)
	pace := startPace(t)
	require.Equal(t, "0", text(t, pool, "select count(*)::text from prepaid.payments"))
	waited := time.Since(pace.began)
	require.NoError(t, busy.Commit(t.Context()))
	require.NoError(t, <-migrated)
	pace.took(waited, 4*time.Second)
}

// Migrate continues after versions that psql applied.
func TestMigrateAfterAnotherTool(t *testing.T) {
	t.Parallel()
	psql, err := exec.LookPath("psql")
	if err != nil {
		require.NotEqual(t, "required", os.Getenv("PREPAID_TEST_POSTGRES"), "psql is not installed")
		t.Skip("psql is not installed")
	}
	pool := emptyPool(t)
	_, err = pool.Exec(t.Context(), "create schema prepaid")
	require.NoError(t, err)
	run := exec.CommandContext(t.Context(), psql, "--quiet", "--single-transaction", "-v", "ON_ERROR_STOP=1", "-f",
		filepath.Join("schema", Migrations()[0].Name), pool.Config().ConnString())
	run.Env = append(os.Environ(), "PGOPTIONS=-c search_path=prepaid")
	output, err := run.CombinedOutput()
	require.NoError(t, err, "%s", output)
	require.NoError(t, checkVersion(t.Context(), pool, "prepaid", 1))
	require.NoError(t, migrate(t.Context(), pool, "", nextMigrations(t)))
	require.Equal(t, "1 2 3 4", text(t, pool, "select string_agg(version::text, ' ' order by version) from prepaid.versions"))
}

// A later program does not start before the migration; an earlier program still runs after it.
func TestVersionsNextToEachOther(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	err := checkVersion(t.Context(), pool, "prepaid", 4)
	require.ErrorIs(t, err, ErrSchemaOld)
	require.EqualError(t, err, "prepaidpg: the schema is older than this program: migrate it first: schema prepaid lacks 1 of 4 versions")
	require.NoError(t, migrate(t.Context(), pool, "", nextMigrations(t)))
	require.NoError(t, checkVersion(t.Context(), pool, "prepaid", 4))
	require.NoError(t, checkVersion(t.Context(), pool, "prepaid", 1))
	require.NoError(t, Migrate(t.Context(), pool, ""), "an older program migrates")
}

// A user without the right to create schemas can migrate an existing one. A worker only needs access to rows.
func TestMigrateRights(t *testing.T) {
	t.Parallel()
	pool := emptyPool(t)
	own := strings.ToLower(rand.Text()) // roles belong to the server
	keeper, worker := "keeper_"+own, "worker_"+own
	for _, statement := range []string{"create role " + keeper, "create role " + worker, "create schema prepaid authorization " + keeper} {
		_, err := pool.Exec(t.Context(), statement)
		require.NoError(t, err)
	}
	as := func(role string) *pgxpool.Pool {
		config := pool.Config().Copy()
		config.AfterConnect = func(ctx context.Context, c *pgx.Conn) error {
			_, err := c.Exec(ctx, "set role "+role)
			return err
		}
		own, err := pgxpool.NewWithConfig(t.Context(), config)
		require.NoError(t, err)
		t.Cleanup(own.Close)
		return own
	}
	require.Error(t, Migrate(t.Context(), as(worker), "other"))
	require.NoError(t, Migrate(t.Context(), as(keeper), ""))
	_, err := pool.Exec(t.Context(), "grant usage on schema prepaid to "+worker+";\n"+
		"grant select, insert, update, delete on all tables in schema prepaid to "+worker)
	require.NoError(t, err)
	s := openStore(t, as(worker))
	s.add(1)
	require.Len(t, s.claims(&teller{}, 1), 1)
}

func TestMigrateRefuses(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"1a", "A", `a"b`, strings.Repeat("a", 41), "a b"} {
		err := Migrate(t.Context(), nil, name)
		require.ErrorAs(t, err, new(*prepaid.ValidationError))
		require.NotContains(t, err.Error(), name)
	}
}
