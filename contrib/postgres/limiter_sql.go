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
	pool                *pgxpool.Pool
	name                string
	read, create, write string
}

func newLimit(pool *pgxpool.Pool, schema, name string) *limit {
	sql := strings.NewReplacer("rate_limits", pgx.Identifier{schema, "rate_limits"}.Sanitize())
	return &limit{pool: pool, name: name, read: sql.Replace(readLimit), create: sql.Replace(createLimit), write: sql.Replace(writeLimit)}
}

// The commit of an exchange waits for no disk: a crash may undo exchanges. That is noticed, as a restart is, by the server's
// start together with the end of its last recovery, which also differs after a failover.
const (
	readLimit = `
select version, state,
	(extract(epoch from clock_timestamp()) * 1000)::bigint,
	(extract(epoch from clock_timestamp() - pg_postmaster_start_time()) * 1000)::bigint,
	extract(epoch from pg_postmaster_start_time()) || ' ' || coalesce(pg_last_wal_replay_lsn()::text, '')
from rate_limits where name = $1 order by version desc limit 1`

	// If it arrives late, after the row has got other versions, its own is never the newest.
	createLimit = `insert into rate_limits (name, version, state) values ($1, 0, '{}') on conflict do nothing`

	writeLimit = `
with unsynced as (select set_config('synchronous_commit', 'off', true))
update rate_limits set version = version + 1, state = $3 from unsynced where name = $1 and version = $2`
)

// Exchange implements fleet.Pool.
func (l *limit) Exchange(ctx context.Context, r fleet.Report) (grant fleet.Grant, err error) {
	err = l.pool.AcquireFunc(ctx, func(c *pgxpool.Conn) error {
		for done := false; !done; {
			if grant, done, err = l.try(ctx, c, r); err != nil {
				return err
			}
		}
		return nil
	})
	return grant, failure("rate limit", err)
}

// try reports false if another exchange was faster, or the row had to be created.
func (l *limit) try(ctx context.Context, c *pgxpool.Conn, r fleet.Report) (fleet.Grant, bool, error) {
	var version int64
	var text []byte
	var server fleet.Server
	err := c.QueryRow(ctx, l.read, l.name).Scan(&version, &text, &server.Now, &server.Up, &server.Run)
	if errors.Is(err, pgx.ErrNoRows) {
		_, err = c.Exec(ctx, l.create, l.name)
		return fleet.Grant{}, false, err
	}
	if err != nil {
		return fleet.Grant{}, false, err
	}
	var state fleet.State
	if err := json.Unmarshal(text, &state); err != nil {
		return fleet.Grant{}, false, err
	}
	grant := state.Exchange(server, r)
	if grant.Granted == fleet.Void {
		return grant, true, nil
	}
	if text, err = json.Marshal(state); err != nil {
		return fleet.Grant{}, false, err
	}
	written, err := c.Exec(ctx, l.write, l.name, version, string(text))
	if isCode(err, serializationFailure) {
		return fleet.Grant{}, false, nil // the pool's transactions are stricter than needed
	}
	return grant, written.RowsAffected() == 1, err
}
