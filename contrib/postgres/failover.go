package prepaidpg

import (
	"context"

	"github.com/jackc/pgx/v5"
)

// recoverSQL treats each pending payment as held by an unknown worker that may send it for $1 microseconds from now. If a
// person must decide, the payment counts as sent until now, and not later.
const recoverSQL = `with p as (
	update {s}.payments set state = 'unknown', changed = now(), began = coalesce(began, now()), resolved = false,
		lease = lease + {fence}, last_sent = now(), not_before = now(),
		sends_until = case when review is null then greatest(sends_until, now() + $1::bigint * interval '1 microsecond') end,
		due = case when review is null then greatest(due, sends_until, now() + $1::bigint * interval '1 microsecond') end
	where state in ({pending}) returning number, lease, 'recover' as event, state, null::text as code, attempts
), {history} select count(*) from p`

// Recover is for a server that may have lost its last commits: a promoted asynchronous standby, or a backup. Call it once on that
// server, before workers start there. It returns the number of pending payments. All of them then count as sent: if the server lost
// a claim, the worker that made the claim may still be sending. The payments become due after 1.5 times Options.CallTimeout, which
// must not be shorter than the CallTimeout of earlier workers, and then rest for AttemptTimeout and InFlightWait of the client.
// Workers then send them under the same request IDs: if the service has paid, it returns its first response.
//
// Earlier workers that still run can only record that money moved. If a person must decide, the payment keeps its
// Review. Payments with a final outcome do not change. docs/payments-at-scale.md names the remaining risks.
//
// Errors: those of the database. Then nothing has changed; you can call Recover again.
func (s *Store) Recover(ctx context.Context) (n int, err error) {
	sends := s.options.CallTimeout + s.options.CallTimeout/2
	err = pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.ReadCommitted, AccessMode: pgx.ReadWrite}, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, durable); err != nil {
			return err
		}
		return tx.QueryRow(ctx, s.sql.Replace(recoverSQL), sends.Microseconds()).Scan(&n)
	})
	return n, failure("recover", err)
}
