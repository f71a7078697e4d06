// Package prepaidpg stores payments in Postgres, so that any number of processes can pay them: nobody is paid twice or left
// out, whichever of them is killed or frozen at whichever moment.
//
// [Store.Enqueue] adds a payment to a transaction of yours, next to your order: both are committed, or neither. [Store.Run]
// sends what is due, in as many processes as you like, and records each outcome; then [Workers].Settled writes to your books, once. It uses github.com/jackc/pgx/v5 and Postgres 14 or later.
//
// # How a payment is sent
//
// A worker claims payments that are due with FOR UPDATE SKIP LOCKED. The commit of the claim is the intent, and waits for the
// disk whatever synchronous_commit says. The call follows outside any transaction. The outcome is written only if the
// payment still belongs to this worker (the row has the number of its lease), with the mark that Settled is due. Settled then runs in a
// transaction that also removes the mark. The workers are those of [journal.Workers], and a Store is a [journal.Store].
//
// # The lease
//
// A claimed payment belongs to its worker for 1.5 times [Options].CallTimeout plus AttemptTimeout and InFlightWait of its
// client: 3 minutes and 40 seconds with the defaults. Nothing can make that shorter. The worker sends a payment only in the
// first half CallTimeout, so that the call and what the service still does after it are over before the lease is. Otherwise
// it gives the payment back. The client compares the deadline of the call with the clock again before it writes, when
// it has token, slot and connection. When a worker dies, the next one takes its payments after the lease, as unknown
// outcomes: under the same request ID, with LastSent set to the last moment at which the dead worker can have sent.
// A payment of unknown outcome is claimed only when its sender may send it ([prepaid.AccountsService.AwaitRepeat]), so that this
// wait uses up neither lease nor CallTimeout.
//
// Only Postgres's clock decides. A worker counts from a moment before it asked for the payment, on its monotonic clock and
// on its wall clock, whichever is further.
//
// What remains: a process that is frozen between that last look at the clock and the write to the connection, which takes
// microseconds, for longer than AttemptTimeout and InFlightWait, and whose request then overlaps with the one of the next
// worker. And a clock of Postgres that is set forward by minutes, such as by a failover to a machine whose clock is wrong,
// ends leases early: keep the clocks of the machines synchronised.
//
// # Failover
//
// A standby that replicates synchronously (synchronous_commit on and synchronous_standby_names) loses nothing. An asynchronous one,
// or a backup, may lack the last commits. If that is a claim, workers send the payment at once, while an earlier worker may still be
// sending it. So end the workers, call [Store.Recover] once on the promoted server, and start them again. What remains:
//
//   - A payment whose Enqueue was lost has no row, and may have been made. If its worker survives, it logs the success and
//     calls Trace.Lost. Enqueue the order again under its request ID, with LastSent set to now: the service returns its first response.
//   - A person's decision that was lost is void. Withdraw again, before Recover, what was paid some other way. A rejected payment may
//     have been retried and made: look at the account's history before you withdraw it.
//
// # Outcomes
//
// A payment that was not sent, because there was no token, connection or slot, is sent later; the workers slow down
// meanwhile. One of unknown outcome is sent again under its request ID, no earlier than its client allows, until a success
// or a refusal that proves that nothing moved; see package journal, whose state machine this is. 29 days after its first
// sending, or when the client refuses its request ID, it waits for a person: [Store.Waiting], [Store.Resolve]. A rejected
// payment is not sent again, unless [Store.Retry] says so.
//
// That the money moved is recorded even by a worker whose lease is over, since it never becomes false. Anything else that
// such a worker found is dropped: its successor finds out more.
//
// # Privacy
//
// Request ID, account, amount, state, times and the service's IDs and codes are stored in clear. Destination, references and user
// names are not: they are encrypted with [Options].Seal until the payment is done or withdrawn, and recognised by digests under
// [Options].DigestKey. Logs and errors have none of them.
//
// # Connections and poolers
//
// A Run uses up to six connections of the pool. pgxpool allows four by default: set MaxConns to what your own queries need plus
// six. Idle workers ask for payments four times a second, which reads a few pages of one index.
//
// Behind a pooler in transaction mode, such as PgBouncer, set default_query_exec_mode=exec in the address of the pool. Otherwise
// [Open] returns [ErrPooler].
package prepaidpg
