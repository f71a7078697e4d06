package prepaidpg

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/cardprograms/prepaid/journal"
)

var errFailover = fmt.Errorf("%w: end all workers, then call Store.Recover once", journal.ErrFailover)

// isOn takes the {epoch} of a statement, and returns errFailover if workers may not send.
func (s *Store) isOn(here *string) error {
	if here == nil {
		return errFailover
	}
	s.epoch.Store(here)
	return nil
}

// begin begins a Run. If there is no other one, it may begin on any server from which workers may send.
func (s *Store) begin() {
	if s.runs.Add(1) == 1 {
		s.epoch.Store(nil)
	}
}

// recoverSQL treats each pending payment as held by an unknown worker that may send it for $1 microseconds from now. If a
// person must decide, the payment counts as sent until now, and not later.
const recoverSQL = `with p as (
	update {s}.payments set state = 'unknown', changed = now(), began = coalesce(began, now()), resolved = false,
		lease = lease + {fence}, first_sent = least(first_sent, changed), last_sent = now(), not_before = now(),
		sends_until = case when review is null then greatest(sends_until, now() + $1::bigint * interval '1 microsecond') end,
		due = case when review is null then greatest(due, sends_until, now() + $1::bigint * interval '1 microsecond') end
	where state in ({pending}) returning number, lease, 'recover' as event, state, null::text as code, attempts
), {history} select count(*) from p`

// serverHereSQL lets workers that begin from now on send from this server, and no others.
const serverHereSQL = `update {s}.versions set server = {server}, epoch = gen_random_uuid() where version = 2`

// Recover is for a server that may have lost its last commits: a promoted asynchronous standby, or a backup. Until then workers send
// nothing from there, and Run returns [journal.ErrFailover]. Call it once on that server, after all workers have ended. It returns the
// number of pending payments. All of them then count as sent: if the server lost a claim, the worker that made the claim may still be
// sending. The payments become due after 1.5 times Options.CallTimeout, which must not be shorter than the CallTimeout of earlier workers,
// and then rest for AttemptTimeout and InFlightWait of the client. Workers then send them under the same request IDs: if the service has
// paid, it returns its first response.
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
		if _, err := tx.Exec(ctx, s.sql.Replace(serverHereSQL)); err != nil {
			return err
		}
		return tx.QueryRow(ctx, s.sql.Replace(recoverSQL), sends.Microseconds()).Scan(&n)
	})
	if err == nil {
		s.epoch.Store(nil)
	}
	return n, failure("recover", err)
}
