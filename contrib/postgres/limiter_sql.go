package prepaidpg

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/cardprograms/prepaid/contrib/internal/fleet"
)

// limit is one rate limit in Postgres: the newest row of its name. An exchange reads it, computes the grant here and replaces
// the row, unless another exchange has been faster; then it starts again. So nothing is locked while a replica computes.
//
// The version is part of the key. An index on the name alone finds every dead version that a long transaction elsewhere keeps,
// before the newest: five seconds of one made exchanges five times slower.
type limit struct {
	pool *pgxpool.Pool
	name string
	sql  *strings.Replacer // of statements
}

func newLimit(pool *pgxpool.Pool, schema, name string) *limit {
	return &limit{pool: pool, name: name, sql: newSQL(pgx.Identifier{schema}.Sanitize())}
}

// The commit of an exchange waits for no disk: a crash may undo exchanges. That is noticed, as a restart is, by the server's
// start together with the end of its last recovery, which also differs after a failover.
const (
	readLimit = `
select version, state,
	(extract(epoch from clock_timestamp()) * 1000)::bigint,
	(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint,
	extract(epoch from pg_postmaster_start_time()) || ' ' || coalesce(pg_last_wal_replay_lsn()::text, '')
from {s}.rate_limits where name = $1 order by version desc limit 1`

	// If it arrives late, after the row has got other versions, its own is never the newest.
	createLimit = `insert into {s}.rate_limits (name, version, state) values ($1, 0, '{}') on conflict do nothing`

	writeLimit = `
with unsynced as (select set_config('synchronous_commit', 'off', true))
update {s}.rate_limits set version = version + 1, state = $3 from unsynced where name = $1 and version = $2`
)

// Exchange implements fleet.Pool.
func (l *limit) Exchange(ctx context.Context, r fleet.Report) (grant fleet.Grant, err error) {
	err = l.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		for { // until no other exchange has been faster
			var version int64
			var state fleet.State
			var server fleet.Server
			err := c.QueryRow(ctx, l.sql.Replace(readLimit), l.name).Scan(&version, &state, &server.Now, &server.Up, &server.Run)
			if errors.Is(err, pgx.ErrNoRows) {
				if _, err = c.Exec(ctx, l.sql.Replace(createLimit), l.name); err == nil {
					continue
				}
			}
			if err != nil {
				return err
			}
			if grant = state.Exchange(server, r); grant.Granted == fleet.Void {
				return nil
			}
			text, _ := json.Marshal(state) // numbers and valid names
			written, err := c.Exec(ctx, l.sql.Replace(writeLimit), l.name, version, string(text))
			tooStrict := isCode(err, serializationFailure) // for what the pool's transactions have to be
			if written.RowsAffected() == 1 || err != nil && !tooStrict {
				return err
			}
		}
	})
	return grant, failure("rate limit", err)
}
