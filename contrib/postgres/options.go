package prepaidpg

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/journal"
)

// Options configures a Store. DigestKey and Seal are required, and are the same in every process that uses the schema.
type Options struct {
	// Schema is the database schema of the tables, "prepaid" by default: at most 40 lower-case letters, digits and
	// underscores.
	Schema string
	// DigestKey is the key of the digests by which a payment is recognised. Keep it as long as the payments: with
	// another one each payment that is enqueued again is [journal.ErrChanged], and none that is stored can be sent.
	DigestKey prepaid.Secret
	// Seal encrypts what is sent, bank details included, see [journal.NewAEAD]. A payment that is done or withdrawn no
	// longer has it.
	Seal journal.AEAD
	// CallTimeout bounds one call of the sender with all its attempts: 2 minutes by default, from 10 ms to 24 h. A longer one
	// makes the lease of a payment longer, and so the time until another worker takes over from a dead one.
	CallTimeout time.Duration
	// Logger gets a record of each failure of the database, of a hook or of a panic, with request IDs and without personal
	// data. If nil, nothing is logged.
	Logger *slog.Logger
	// Unsafe has Open accept a server that may lose what it has committed (fsync or full_page_writes off). After a crash
	// of its machine, such a server has people paid twice. It is for tests.
	Unsafe bool
}

const (
	defaultCallTimeout = 2 * time.Minute
	leastCallTimeout   = 10 * time.Millisecond
	mostCallTimeout    = 24 * time.Hour // a sum of more could overflow, and make a lease that is over at once
)

// ErrUnsafeServer: the server may lose what it has committed, because fsync or full_page_writes is off.
var ErrUnsafeServer = errors.New("prepaidpg: the server may lose what it has committed: fsync and full_page_writes must be on")

// Store is the payments of one database schema. Create one with [Open]; its methods are safe for concurrent use.
type Store struct {
	pool    *pgxpool.Pool
	schema  string // quoted
	channel string // of notifications, not quoted
	options Options
	log     *slog.Logger
	sql     statements
	lease   func(call time.Duration, sender journal.Sender) lease // safeLease
}

// Open returns the store of a schema that [Migrate] has made. The caller closes pool, when no Run is left.
//
// Errors: a [*prepaid.ValidationError] of options, [ErrUnsafeServer], [ErrSchemaOld], those of the database.
func Open(ctx context.Context, pool *pgxpool.Pool, options Options) (*Store, error) {
	options.Schema = cmp.Or(options.Schema, defaultSchema)
	options.CallTimeout = cmp.Or(options.CallTimeout, defaultCallTimeout)
	if err := options.check(pool); err != nil {
		return nil, fmt.Errorf("prepaidpg: %w", err)
	}
	quoted := pgx.Identifier{options.Schema}.Sanitize()
	s := &Store{
		pool: pool, schema: quoted, channel: options.Schema + "_payments", options: options,
		log: cmp.Or(options.Logger, slog.New(slog.DiscardHandler)), sql: newStatements(quoted, options.Schema+"_payments"), lease: safeLease,
	}
	if err := s.checkServer(ctx); err != nil {
		return nil, err
	}
	if err := checkVersion(ctx, pool, quoted, len(Migrations())); err != nil {
		return nil, err
	}
	return s, nil
}

func (o Options) check(pool *pgxpool.Pool) error {
	var faults []prepaid.Fault
	require := func(ok bool, field, rule string) {
		if !ok {
			faults = append(faults, prepaid.Fault{Field: field, Rule: rule})
		}
	}
	require(pool != nil, "pool", "is required")
	require(validSchema(o.Schema), "schema", schemaRule)
	require(!o.DigestKey.IsZero(), "digest_key", "is required")
	require(o.Seal != nil, "seal", "is required")
	require(o.CallTimeout >= leastCallTimeout && o.CallTimeout <= mostCallTimeout, "call_timeout", "must be between 10 ms and 24 h")
	if len(faults) > 0 {
		return &prepaid.ValidationError{Faults: faults}
	}
	return nil
}

// checkServer reads what makes a commit durable. synchronous_commit is not among it: each transaction of a Store sets it.
func (s *Store) checkServer(ctx context.Context) error {
	var durable bool
	err := s.pool.QueryRow(ctx, `select current_setting('fsync') = 'on' and current_setting('full_page_writes') = 'on'`).Scan(&durable)
	if err != nil {
		return failure("open", err)
	}
	if !durable && !s.options.Unsafe {
		return ErrUnsafeServer
	}
	return nil
}

// Format prints no key, whatever the AEAD is.
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
