package prepaidpg

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrPooler: a pooler runs the statements of one connection in different sessions of the server, which do not have what pgx has
// prepared. Set default_query_exec_mode=exec in the address of the pool, or connect through the pooler in session mode. A pooler that
// keeps track of prepared statements itself, as PgBouncer 1.21 can, is refused too.
var ErrPooler = errors.New("prepaidpg: a pooler in transaction mode breaks prepared statements: set default_query_exec_mode=exec, or use session mode")

const (
	// poolerLimit bounds the search for a pooler's mode.
	poolerLimit = 5 * time.Second
	// poolerProbes is how many connections are opened for it: several processes of a pooler may share an address.
	poolerProbes = 3
)

// sessionSQL returns the process of a session, and a text that no other session of any server has.
const sessionSQL = `select pid, pid || ' ' || backend_start from pg_stat_activity where pid = pg_backend_pid()`

// checkPooler returns ErrPooler if the pool prepares statements and does not keep its sessions.
func (s *Store) checkPooler(ctx context.Context) error {
	config := s.pool.Config()
	if mode := config.ConnConfig.DefaultQueryExecMode; mode == pgx.QueryExecModeExec || mode == pgx.QueryExecModeSimpleProtocol {
		return nil // it prepares none
	}
	pooled, err := s.pool.Acquire(ctx)
	if err != nil {
		return failure("open", err)
	}
	defer pooled.Release()
	pid, _, err := session(ctx, pooled.Conn())
	if err != nil || pid == pooled.Conn().PgConn().PID() { // Postgres itself has responded to the login, and not a pooler
		return failure("open", err)
	}
	shared, err := sharesSessions(ctx, pooled.Conn(), config)
	if err != nil { // such as too many connections: the pool itself works
		s.log.LogAttrs(ctx, slog.LevelWarn, "prepaid: the mode of a pooler is not known", slog.Any("error", failure("open", err)))
	}
	if shared {
		return ErrPooler
	}
	return nil
}

// sharesSessions reports whether a session of the server has served two connections, or a connection has had two sessions. It opens
// its own connections, because a pool may have only one. Each asks in turn with first: poolers hand out the session that was
// released last, or first.
func sharesSessions(ctx context.Context, first *pgx.Conn, config *pgxpool.Config) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, poolerLimit)
	defer cancel()
	sessions, owners := map[*pgx.Conn]string{}, map[string]*pgx.Conn{}
	defer func() {
		for c := range sessions {
			if c != first {
				_ = c.Close(ctx)
			}
		}
	}()
	for range poolerProbes {
		settings := config.ConnConfig.Copy()
		if config.BeforeConnect != nil {
			if err := config.BeforeConnect(ctx, settings); err != nil {
				return false, err
			}
		}
		probe, err := pgx.ConnectConfig(ctx, settings)
		if err != nil {
			return false, err
		}
		sessions[probe] = ""
		for _, c := range []*pgx.Conn{probe, first} {
			_, name, err := session(ctx, c)
			if err != nil {
				return false, err
			}
			before, owner := sessions[c], owners[name]
			if before != "" && before != name || owner != nil && owner != c {
				return true, nil
			}
			sessions[c], owners[name] = name, c
		}
	}
	return false, nil
}

// session returns the process and the name of the session in which the statements of c run now. It prepares nothing.
func session(ctx context.Context, c *pgx.Conn) (pid uint32, name string, err error) {
	err = c.QueryRow(ctx, sessionSQL, pgx.QueryExecModeExec).Scan(&pid, &name)
	return pid, name, err
}
