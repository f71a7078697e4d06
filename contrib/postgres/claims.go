package prepaidpg

import (
	"cmp"
	"context"
	"crypto/rand"
	"strings"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/webhook"
)

// ClaimsOptions configures [NewClaims].
type ClaimsOptions struct {
	// Schema is the database schema of the tables, "prepaid" by default; see [Migrate].
	Schema string
	// Keep is how long a handled ID is remembered: by default 24 h, at least 1 ms.
	Keep time.Duration
	// Timeout bounds one call, within its context: 2 s by default.
	Timeout time.Duration
}

// Claims is a [webhook.ClaimStore] that replicas share through Postgres. Create one with [NewClaims].
type Claims struct {
	pool    *pgxpool.Pool
	options ClaimsOptions
	sql     *strings.Replacer // of statements
}

// NewClaims returns a store of claims in a schema that [Migrate] has made. Faults of the options are returned as a
// *[prepaid.ValidationError]. The caller closes pool.
//
// Each ID is one row. A claim writes its own token into it, and only the holder of that token can settle it: a caller that
// overran the lease gets [webhook.ErrClaimLost] and changes nothing. Postgres's clock decides when a lease ends. An ID is 1
// to 128 printable ASCII characters without white space, a lease at least 1 ms long. Each claim deletes up to ten rows that
// have expired; there is no goroutine. A claim that has been acknowledged survives a crash.
func NewClaims(pool *pgxpool.Pool, options ClaimsOptions) (*Claims, error) {
	options.Schema = cmp.Or(options.Schema, defaultSchema)
	options.Keep = cmp.Or(options.Keep, 24*time.Hour)
	options.Timeout = cmp.Or(options.Timeout, 2*time.Second)
	var f faults.List
	f.Require(pool != nil, "pool", "is required")
	f.Require(validSchema(options.Schema), "schema", schemaRule)
	f.Require(options.Keep >= time.Millisecond, "keep", "must be at least 1 ms")
	f.Require(options.Timeout > 0, "timeout", "must not be negative")
	if err := f.Err(); err != nil {
		return nil, err
	}
	return &Claims{pool: pool, options: options, sql: newSQL(pgx.Identifier{options.Schema}.Sanitize())}, nil
}

// A row is live until ends: leased, or handled. Time is read while a statement runs, since it may wait for another
// transaction that has the row. $1 is the ID.
const (
	// claimIDSQL does not wait for a holder that has an open transaction, unless its lease has ended. The loser of a race
	// reports "in flight", which is what it was.
	claimIDSQL = `with live as (
	select handled from {s}.claims where id = $1 and ends > clock_timestamp()
), expired as (
	delete from {s}.claims where id in (
		select id from {s}.claims where ends <= now() order by ends limit 10 for update skip locked)
), won as (
	insert into {s}.claims as c (id, token, ends, handled)
	select $1, $2, clock_timestamp() + $3 * interval '1 microsecond', false where not exists (select from live)
	on conflict (id) do update set token = excluded.token, ends = excluded.ends, handled = false
		where c.ends <= clock_timestamp()
	returning id
)
select exists (select from won), exists (select from live where handled)`

	// doneIDSQL has the same effect when it is repeated.
	doneIDSQL = `update {s}.claims set handled = true, ends = clock_timestamp() + $3 * interval '1 microsecond'
	where id = $1 and token = $2 and ends > clock_timestamp()`

	releaseIDSQL = `delete from {s}.claims where id = $1 and token = $2 and not handled and ends > clock_timestamp()`

	// bookIDSQL needs no token: whoever commits first has handled it.
	bookIDSQL = `insert into {s}.claims as c (id, token, ends, handled)
	values ($1, $2, clock_timestamp() + $3 * interval '1 microsecond', true)
	on conflict (id) do update set handled = true, ends = excluded.ends where not c.handled or c.ends <= clock_timestamp()`
)

// Claim implements [webhook.ClaimStore].
func (s *Claims) Claim(ctx context.Context, messageID string, lease time.Duration) (webhook.Claim, error) {
	var f faults.List
	checkID(&f, messageID)
	f.Require(lease >= time.Millisecond, "lease", "must be at least 1 ms")
	if err := f.Err(); err != nil {
		return nil, err
	}
	c := &claim{store: s, id: messageID, token: rand.Text(), state: webhook.ClaimInFlight}
	var won, handled bool
	err := s.execute(ctx, claimIDSQL, []any{c.id, c.token, lease.Microseconds()}, func(q *pgx.QueuedQuery) {
		q.QueryRow(func(row pgx.Row) error { return row.Scan(&won, &handled) })
	})
	switch {
	case err != nil:
		return nil, err
	case won:
		c.state = webhook.ClaimWon
	case handled:
		c.state = webhook.ClaimDone
	}
	return c, nil
}

// DoneTx marks a message as handled when the caller commits tx: the effect of the message, in the same transaction, takes
// place exactly once, whatever happens to the process, the connection or the lease. Call it in the function that handles
// the message, with [webhook.ClaimID] of it.
//
// It returns [webhook.ErrClaimLost], and changes nothing, if the message has been handled: roll back. It waits for another
// transaction that marks the same message.
func (s *Claims) DoneTx(ctx context.Context, tx pgx.Tx, messageID string) error {
	var f faults.List
	checkID(&f, messageID)
	if err := f.Err(); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, s.sql.Replace(bookIDSQL), messageID, "", s.options.Keep.Microseconds())
	if err == nil && tag.RowsAffected() == 0 {
		return webhook.ErrClaimLost
	}
	return failure("claim", err)
}

// execute executes a statement durably. The context's error takes precedence over the one that pgx makes of it.
func (s *Claims) execute(ctx context.Context, statement string, arguments []any, read func(q *pgx.QueuedQuery)) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	bounded, cancel := context.WithTimeout(ctx, s.options.Timeout)
	defer cancel()
	err := durably(bounded, s.pool, func(batch *pgx.Batch) { read(batch.Queue(s.sql.Replace(statement), arguments...)) })
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return failure("claim", err)
}

// claim is one claim. Its token is the fence: it changes nothing if the row has another token, or is gone.
type claim struct {
	store     *Claims
	id, token string
	state     webhook.ClaimState
	settled   atomic.Bool
}

// State implements webhook.Claim.
func (c *claim) State() webhook.ClaimState { return c.state }

// Done implements webhook.Claim.
func (c *claim) Done(ctx context.Context) error {
	return c.settle(ctx, doneIDSQL, c.id, c.token, c.store.options.Keep.Microseconds())
}

// Release implements webhook.Claim.
func (c *claim) Release(ctx context.Context) error {
	return c.settle(ctx, releaseIDSQL, c.id, c.token)
}

// settle may be retried after an error of Postgres, when it is unknown whether it took effect.
func (c *claim) settle(ctx context.Context, statement string, arguments ...any) error {
	if c.state != webhook.ClaimWon || !c.settled.CompareAndSwap(false, true) {
		return webhook.ErrClaimLost
	}
	var tag pgconn.CommandTag
	err := c.store.execute(ctx, statement, arguments, func(q *pgx.QueuedQuery) {
		q.Exec(func(result pgconn.CommandTag) error {
			tag = result
			return nil
		})
	})
	if err == nil && tag.RowsAffected() == 0 {
		err = webhook.ErrClaimLost
	}
	c.settled.Store(err == nil || err == webhook.ErrClaimLost) //nolint:errorlint // the sentinel itself
	return err
}

func checkID(f *faults.List, id string) {
	f.Require(id != "", "message_id", "is required")
	f.RequireKey("message_id", id)
}
