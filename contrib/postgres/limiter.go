package prepaidpg

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/contrib/internal/faults"
	"github.com/cardprograms/prepaid/contrib/internal/fleet"
	"github.com/cardprograms/prepaid/ratelimit"
)

// NewLimiter returns the limiter of one replica, with its state in the schema that [Migrate] has made ("prepaid" if empty). It
// starts exchanges with Postgres, which continue until Close. Faults of the options are returned as a *[prepaid.ValidationError].
// NewLimiter does not wait for Postgres: [ratelimit.SharedStatus] shows whether the schema is missing or too old.
//
// [ratelimit.Shared] describes the limiter. Failovers and recoveries from a crash count as restarts. See [ratelimit.Limiter] for the
// errors of Acquire.
//
// An exchange is two transactions, each of one statement on one row. They wait for neither disk nor standby, and no lock is
// held between them. By default each replica exchanges ten to twenty times a second while it has traffic: ten addresses with
// four replicas each, at the full rate, take 20 % of one core of Postgres. The exchange needs a connection of pool within
// Timeout: if your own transactions can occupy all connections, give the limiter its own pool of two; pgx closes the connection
// of an exchange that times out. The server must be the primary, and have Postgres's functions pg_postmaster_start_time and
// pg_last_wal_replay_lsn. If a compatible server lacks these functions, [ratelimit.SharedStatus] has the error.
func NewLimiter(pool *pgxpool.Pool, schema string, options ratelimit.SharedOptions) (ratelimit.Shared, error) {
	options.Name = cmp.Or(options.Name, "default")
	options.Timeout = cmp.Or(options.Timeout, min(time.Second, cmp.Or(options.Lease, fleet.DefaultLease)/2))
	var f faults.List
	f.Require(pool != nil, "pool", "is required")
	limiter, err := fleet.New(newLimit(pool, schemaOf(schema, &f), options.Name), options, f...)
	if err != nil {
		return nil, err
	}
	return limiter, nil
}

// limit is one rate limit in Postgres: the newest row of its name. An exchange reads the row, computes the grant here and
// replaces the row. If another exchange has replaced the row first, or the pool's isolation level refuses a statement
// because of another exchange, this exchange starts again. So nothing is locked while a replica computes.
//
// The version is part of the key. An index on the name alone would first find every dead version that a long transaction
// keeps: five seconds of such a transaction made exchanges five times slower.
type limit struct {
	pool *pgxpool.Pool
	name string
	sql  *statements
}

func newLimit(pool *pgxpool.Pool, schema, name string) *limit {
	return &limit{pool: pool, name: name, sql: newSQL(pgx.Identifier{schema}.Sanitize())}
}

// The commit of an exchange waits for no disk: a crash may undo exchanges. The server's start time and the end of its
// last recovery identify its current run: they change with a restart, a crash or a failover.
const (
	readLimit = `
select version, state,
	(extract(epoch from clock_timestamp()) * 1000)::bigint,
	(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint,
	extract(epoch from pg_postmaster_start_time()) || ' ' || coalesce(pg_last_wal_replay_lsn()::text, '')
from {s}.rate_limits where name = $1 order by version desc limit 1`

	// If this statement runs after the row has newer versions, its version 0 is not the newest and has no effect.
	createLimit = `insert into {s}.rate_limits (name, version, state) values ($1, 0, '{}') on conflict do nothing`

	writeLimit = `
with unsynced as (select set_config('synchronous_commit', 'off', true))
update {s}.rate_limits set version = version + 1, state = $3 from unsynced where name = $1 and version = $2`
)

// Exchange implements fleet.Pool.
func (l *limit) Exchange(ctx context.Context, r fleet.Report) (grant fleet.Grant, err error) {
	err = l.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		for { // until no other exchange replaces the row first
			var version int64
			var state fleet.State
			var server fleet.Server
			err := c.QueryRow(ctx, l.sql.Replace(readLimit), l.name).Scan(&version, &state, &server.Now, &server.Up, &server.Run)
			if errors.Is(err, pgx.ErrNoRows) {
				if _, err = c.Exec(ctx, l.sql.Replace(createLimit), l.name); err == nil {
					continue
				}
			}
			if isCode(err, serializationFailure) {
				continue
			}
			if err != nil {
				return err
			}
			if grant = state.Exchange(server, r); grant.Granted < 0 {
				return nil
			}
			text, _ := json.Marshal(state) // never fails: numbers and valid names
			written, err := c.Exec(ctx, l.sql.Replace(writeLimit), l.name, version, string(text))
			if isCode(err, serializationFailure) {
				continue // also if the commit failed, after "UPDATE 1"
			}
			if err != nil || written.RowsAffected() == 1 {
				return err
			}
		}
	})
	return grant, failure("rate limit", err)
}
