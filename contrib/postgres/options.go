package prepaidpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/internal/guard"
	"github.com/cardprograms/prepaid/journal"
)

// Options configures a Store. DigestKey and Seal are required, and must be the same in every process that uses the schema.
type Options struct {
	// Schema is the database schema of the tables, "prepaid" by default: at most 40 lower-case letters, digits and underscores.
	Schema string
	// DigestKey is the key of the digests that identify a payment. Keep it as long as the payments: with another key,
	// enqueueing a payment again returns [journal.ErrChanged], and no stored payment can be sent.
	DigestKey prepaid.Secret
	// Seal encrypts the params, including bank details, see [journal.NewAEAD]. Done and withdrawn payments have no params.
	Seal journal.AEAD
	// CallTimeout is the CallTimeout of [journal.Workers]: 2 minutes by default.
	CallTimeout time.Duration
	// Logger gets a record of each failure of the database or of a hook, and of each panic, with request IDs and without
	// personal data. If nil, nothing is logged.
	Logger *slog.Logger
	// SessionPooler lets Open accept a pooler or proxy that keeps one session per connection, such as PgBouncer in session mode.
	SessionPooler bool
	// Unsafe lets Open accept a server that may lose commits (fsync or full_page_writes off). Use it only in tests:
	// after a crash of its machine, such a server pays people twice.
	Unsafe bool
}

// ErrUnsafeServer: the server may lose commits, because fsync or full_page_writes is off.
var ErrUnsafeServer = errors.New("prepaidpg: the server may lose what it has committed: fsync and full_page_writes must be on")

// ErrRowSecurity: row-level security applies to the pool's role, and may hide payments from workers without an error. Disable it on the
// tables of the schema, or give the role BYPASSRLS.
var ErrRowSecurity = errors.New("prepaidpg: row-level security may hide payments: disable it on the tables, or give the role bypassrls")

// Store has the payments of one database schema. Create it with [Open]; it is safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	schema  string // quoted
	options Options
	log     *slog.Logger
	sql     *statements
	horizon horizon
	epoch   atomic.Pointer[string] // of the server that workers began on; nil: of any
	runs    atomic.Int32           // calls of Run in progress
}

// Open returns the store of a schema that [Migrate] has made. Close pool after the last Run has ended.
//
// Errors: a [*prepaid.ValidationError] of options, [ErrPooler], [ErrUnsafeServer], [ErrRowSecurity], [ErrSchemaOld], those of the database.
func Open(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	options.CallTimeout = cmp.Or(options.CallTimeout, 2*time.Minute)
	var f faults.List
	f.Require(pool != nil, "pool", "is required")
	options.Schema = schemaOf(options.Schema, &f)
	f.Require(!options.DigestKey.IsZero(), "digest_key", "is required")
	f.Require(options.Seal != nil, "seal", "is required")
	if err := f.Err(); err != nil {
		return nil, fmt.Errorf("prepaidpg: %w", err)
	}
	quoted := pgx.Identifier{options.Schema}.Sanitize()
	s := &Store{
		pool: pool, schema: quoted, options: options,
		log: guard.Logger(cmp.Or(options.Logger, slog.New(slog.DiscardHandler))), sql: newSQL(quoted),
	}
	if err := s.checkPooler(ctx); err != nil { // before a statement is prepared
		return nil, err
	}
	// These settings make a commit durable, together with synchronous_commit, which each transaction sets.
	var safe bool
	err := pool.QueryRow(ctx, `select current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on'`).Scan(&safe)
	if err != nil {
		return nil, failure("open", err)
	}
	if !safe && !options.Unsafe {
		return nil, ErrUnsafeServer
	}
	if err := checkVersion(ctx, pool, quoted, len(Migrations())); err != nil {
		return nil, err
	}
	return s, nil
}

// Format prints no key, whatever AEAD is set.
func (o Options) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "prepaidpg.Options{Schema:%s CallTimeout:%s}", o.Schema, o.CallTimeout)
}

// LogValue logs the same as Format prints.
func (o Options) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(o)) }

// Format prints the schema only.
func (s *Store) Format(f fmt.State, _ rune) {
	_, _ = fmt.Fprintf(f, "prepaidpg.Store{%s}", s.options.Schema)
}

// LogValue logs the same as Format prints.
func (s *Store) LogValue() slog.Value { return slog.StringValue(fmt.Sprint(s)) }

// ErrPooler: the pool prepares statements, and a pooler is in front of Postgres. In transaction mode a pooler runs
// statements of one connection in different server sessions, which lack the prepared statements of pgx. Set
// default_query_exec_mode=exec in the address of the pool, or [Options].SessionPooler if the pooler is in session mode.
// Poolers that track prepared statements, as PgBouncer 1.21 can, are refused too.
var ErrPooler = errors.New("prepaidpg: a pooler may break prepared statements: set default_query_exec_mode=exec, or Options.SessionPooler")

// checkPooler returns ErrPooler if the pool prepares statements and may use a pooler.
func (s *Store) checkPooler(ctx context.Context) error {
	mode := s.pool.Config().ConnConfig.DefaultQueryExecMode
	if s.options.SessionPooler || mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		return nil
	}
	var login, pid uint32
	err := s.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		login = c.Conn().PgConn().PID()
		return c.QueryRow(ctx, "select pg_backend_pid()", pgx.QueryExecModeExec).Scan(&pid)
	})
	if err == nil && pid != login { // a pooler, not Postgres, responded to the login
		return ErrPooler
	}
	return failure("open", err)
}
