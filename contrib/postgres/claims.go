package prepaidpg

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/contrib/internal/claims"
	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/webhook"
)

// Claims is a [webhook.ClaimStore] that replicas share through Postgres. Create one with [NewClaims].
type Claims struct {
	shared *claims.Store
	sql    *statements
}

// NewClaims returns a store of claims in a schema that [Migrate] has made ("prepaid" if empty). Faults of the arguments are returned
// as a *[prepaid.ValidationError]. The caller closes pool.
//
// Each ID is one row. A claim writes its own token into the row, and only the holder of that token can end the claim: a
// caller that overran the lease gets [webhook.ErrClaimLost] and changes nothing. Postgres's clock decides when a lease
// ends. An ID has 1 to 128 printable ASCII characters without white space; a lease is at least 1 ms long. Each claim
// deletes up to ten expired rows; there is no goroutine. A claim survives a crash after Claim has returned.
func NewClaims(pool *pgxpool.Pool, schema string, options webhook.ClaimOptions) (*Claims, error) {
	var f faults.List
	f.Require(pool != nil, "pool", "is required")
	sql := newSQL(pgx.Identifier{schemaOf(schema, &f)}.Sanitize())
	command := func(statement string) claims.Command {
		return func(ctx context.Context, id, token string, life time.Duration) (n int64, err error) {
			err = durably(ctx, pool, durable, func(batch *pgx.Batch) {
				batch.Queue(sql.Replace(statement), id, token, life.Microseconds()).QueryRow(func(row pgx.Row) error { return row.Scan(&n) })
			})
			return n, failure("claim", err)
		}
	}
	shared, err := claims.New(claims.Store{
		ClaimOptions: options, Take: command(claimIDSQL), Done: command(doneIDSQL), Release: command(releaseIDSQL),
	}, f)
	if err != nil {
		return nil, err
	}
	return &Claims{shared: shared, sql: sql}, nil
}

// A row (leased or handled) is live until the time in column "ends". Statements use clock_timestamp(), since now()
// would be too early after a wait for another transaction that has the row. $1 is the ID.
const (
	// claimIDSQL waits for a holder with an open transaction only if the holder's lease has ended. It returns a
	// [webhook.ClaimState]: the loser of a race gets "in flight".
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
select case when exists (select from won) then 1 when exists (select from live where handled) then 3 else 2 end`

	// doneIDSQL has the same effect when it is repeated.
	doneIDSQL = `with p as (update {s}.claims set handled = true, ends = clock_timestamp() + $3 * interval '1 microsecond'
	where id = $1 and token = $2 and ends > clock_timestamp() returning id) select count(*) from p`

	releaseIDSQL = `with p as (delete from {s}.claims where id = $1 and token = $2 and not handled and ends > clock_timestamp()
	and $3::bigint = 0 returning id) select count(*) from p`

	// bookIDSQL needs no token: the first transaction that commits has handled the ID.
	bookIDSQL = `insert into {s}.claims as c (id, token, ends, handled)
	values ($1, $2, clock_timestamp() + $3 * interval '1 microsecond', true)
	on conflict (id) do update set handled = true, ends = excluded.ends where not c.handled or c.ends <= clock_timestamp()`
)

// Claim implements [webhook.ClaimStore].
func (s *Claims) Claim(ctx context.Context, messageID string, lease time.Duration) (webhook.Claim, error) {
	return s.shared.Claim(ctx, messageID, lease)
}

// DoneTx marks a message as handled when the caller commits tx: changes in tx for the message happen exactly once, whatever happens to the
// process, the connection or the lease. Call it in the function that handles the message, with its [webhook.ClaimID].
//
// It returns [webhook.ErrClaimLost], and changes nothing, if the message has been handled: then roll back. It waits for
// another transaction that marks the same message.
func (s *Claims) DoneTx(ctx context.Context, tx pgx.Tx, messageID string) error {
	if err := claims.CheckID(messageID).Err(); err != nil {
		return err
	}
	tag, err := tx.Exec(ctx, s.sql.Replace(bookIDSQL), messageID, "", s.shared.Keep.Microseconds())
	if err == nil && tag.RowsAffected() == 0 {
		return webhook.ErrClaimLost
	}
	return failure("claim", err)
}
