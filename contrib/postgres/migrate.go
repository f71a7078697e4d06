package prepaidpg

import (
	"cmp"
	"context"
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/internal/pause"
)

var (
	// ErrSchemaOld is returned by [Open]: the schema, or a table in it, is missing or too old for this program. Before new
	// programs start, call [Migrate], or apply the missing [Migrations] with your own tool.
	ErrSchemaOld = errors.New("prepaidpg: the schema is older than this program: migrate it first")
	// ErrMigrationChanged is returned by [Migrate]: an applied file differs from the file in this program.
	ErrMigrationChanged = errors.New("a migration that was applied has been changed")
)

//go:embed schema/*.sql
var schemaFiles embed.FS

// Migration is one version of the tables.
type Migration struct {
	// Version counts from 1.
	Version int
	// Name is the name of the file, such as 0001_payments.sql.
	Name string
	// SQL is the file's statements, for one transaction with only the schema in search_path. The statements also record the version.
	SQL string
}

// Migrations returns all versions in order, for your own migration tool. Apply each once, in one transaction, with
// search_path set to only the schema, which must exist: names in the files are not qualified. For example,
//
//	PGOPTIONS='-c search_path=prepaid' psql --single-transaction -v ON_ERROR_STOP=1 -f 0001_payments.sql
//
// With goose, add goose's markers to a copy of the file. [Migrate] can continue after another tool.
func Migrations() []Migration {
	files, _ := fs.ReadDir(schemaFiles, "schema") // embedded: it exists
	migrations := make([]Migration, 0, len(files))
	for i, file := range files {
		text, _ := schemaFiles.ReadFile("schema/" + file.Name())
		migrations = append(migrations, Migration{Version: i + 1, Name: file.Name(), SQL: string(text)})
	}
	return migrations
}

func (m Migration) checksum() string {
	sum := sha256.Sum256([]byte(m.SQL))
	return hex.EncodeToString(sum[:])
}

// Migrate creates the schema, if it does not exist, and applies the missing versions. An empty schema means "prepaid"; see
// [Options]. Any number of processes can call Migrate at the same time, while workers of the previous version run: versions only
// add tables, columns with a constant default, and indexes. Older programs ignore these: a program accepts its own version and all
// later ones. So migrate first, then replace the programs one by one. To go back to an older program, keep the tables as they are.
//
// Each version is one transaction. A version waits at most 2 s at a time for the lock of a table: so it delays other
// transactions for at most 2 s, and while it builds an index (version 3, on payments). It is repeated until it succeeds or ctx ends. The
// database user must be allowed to create the schema, or tables in it. Workers need only USAGE on the schema and SELECT, INSERT, UPDATE
// and DELETE on its tables. Both call Postgres's functions pg_control_system, pg_current_wal_lsn and pg_walfile_name, which every role
// may call by default.
//
// Errors: a [*prepaid.ValidationError] of the schema's name, [ErrMigrationChanged], those of the database.
func Migrate(ctx context.Context, pool *pgxpool.Pool, schema string) error {
	return migrate(ctx, pool, schema, Migrations())
}

const (
	defaultSchema = "prepaid"
	lockTimeout   = "2s" // longest wait for one table
	retryPause    = 500 * time.Millisecond
)

func migrate(ctx context.Context, pool *pgxpool.Pool, schema string, migrations []Migration) error {
	var f faults.List
	schema = schemaOf(schema, &f)
	if err := f.Err(); err != nil {
		return fmt.Errorf("prepaidpg: %w", err)
	}
	for {
		done, err := migrateNext(ctx, pool, schema, migrations)
		if isCode(err, lockNotAvailable) {
			err = pause.For(ctx, retryPause) // other transactions that wait for the table go first
		}
		if done || err != nil {
			return err
		}
	}
}

// migrateNext applies the first missing version. done reports that no version is missing.
func migrateNext(ctx context.Context, pool *pgxpool.Pool, schema string, migrations []Migration) (done bool, err error) {
	step := "migrate"
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := enterSchema(ctx, tx, schema); err != nil {
			return err
		}
		applied, err := appliedVersions(ctx, tx)
		if err != nil {
			return err
		}
		for _, m := range migrations {
			sum, ok := applied[m.Version]
			if ok && sum != "" && sum != m.checksum() {
				return fmt.Errorf("%w: %s", ErrMigrationChanged, m.Name)
			}
			if !ok {
				step = m.Name
				if _, err := tx.Exec(ctx, m.SQL); err != nil {
					return err
				}
				_, err := tx.Exec(ctx, "update versions set checksum = $2 where version = $1", m.Version, m.checksum())
				return err
			}
		}
		done = true
		return nil
	})
	return done, failure(step, err)
}

// enterSchema creates the schema if it does not exist, and locks it against other migrations.
func enterSchema(ctx context.Context, tx pgx.Tx, schema string) error {
	if _, err := tx.Exec(ctx, "select pg_advisory_xact_lock(hashtextextended('prepaidpg ' || $1, 0))", schema); err != nil {
		return err
	}
	var exists bool
	quoted := pgx.Identifier{schema}.Sanitize()
	err := tx.QueryRow(ctx, `select to_regnamespace($1) is not null, set_config('search_path', $1, true),
		set_config('lock_timeout', $2, true)`, quoted, lockTimeout).Scan(&exists, nil, nil)
	if err == nil && !exists {
		_, err = tx.Exec(ctx, "create schema "+quoted)
	}
	return err
}

// appliedVersions returns the checksums of applied versions, empty for a version that another tool applied.
func appliedVersions(ctx context.Context, tx pgx.Tx) (applied map[int]string, err error) {
	var exists bool
	if err := tx.QueryRow(ctx, "select to_regclass('versions') is not null").Scan(&exists); err != nil || !exists {
		return nil, err
	}
	err = tx.QueryRow(ctx, "select coalesce(json_object_agg(version, coalesce(checksum, '')), '{}') from versions").Scan(&applied)
	return applied, err
}

// checkVersion returns ErrRowSecurity if rows may be hidden, and ErrSchemaOld unless the schema has all versions up to need. The schema
// may be newer.
func checkVersion(ctx context.Context, pool *pgxpool.Pool, quoted string, need int) error {
	var have int
	var hides bool
	err := pool.QueryRow(ctx, "select count(*), (select bool_or(row_security_active($2 || name))"+
		" from unnest('{payments,history,archive,versions}'::text[]) name) from "+quoted+".versions where version <= $1", need, quoted+".").Scan(&have, &hides)
	if isCode(err, undefinedTable) {
		have, err = 0, nil
	}
	if err != nil {
		return failure("open", err)
	}
	if hides {
		return ErrRowSecurity
	}
	if have < need {
		return fmt.Errorf("%w: schema %s lacks %d of %d versions", ErrSchemaOld, strings.Trim(quoted, `"`), need-have, need)
	}
	return nil
}

// schemaOf returns name or the default, and adds a fault if the name is not valid.
func schemaOf(name string, f *faults.List) string {
	name = cmp.Or(name, defaultSchema)
	plain := strings.Trim(name, "abcdefghijklmnopqrstuvwxyz0123456789_") == ""
	f.Require(plain && len(name) <= 40 && name[0] >= 'a' && name[0] <= 'z', "schema",
		"must be at most 40 lower-case letters, digits and underscores, and begin with a letter")
	return name
}

// Error codes of Postgres.
const (
	undefinedTable       = "42P01"
	lockNotAvailable     = "55P03"
	serializationFailure = "40001"
)

func isCode(err error, code string) bool {
	failed, ok := errors.AsType[*pgconn.PgError](err)
	return ok && failed.Code == code
}
