package prepaidpg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
)

// ErrPooler: the pool prepares statements, and a pooler is in front of Postgres. In transaction mode it runs the statements of one
// connection in different sessions of the server, which do not have what pgx has prepared. Set default_query_exec_mode=exec in the
// address of the pool, or [Options].SessionPooler if the pooler is in session mode. A pooler that keeps track of prepared statements
// itself, as PgBouncer 1.21 can, is refused too.
var ErrPooler = errors.New("prepaidpg: a pooler may break prepared statements: set default_query_exec_mode=exec, or Options.SessionPooler")

// checkPooler returns ErrPooler if the pool prepares statements that a pooler may run in other sessions.
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
	if err == nil && pid != login { // a pooler has responded to the login, and not Postgres itself
		return ErrPooler
	}
	return failure("open", err)
}
