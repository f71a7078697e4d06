// Package prepaidpg stores payments in Postgres, so that any number of processes can pay them: each payment is made once,
// whichever process is killed or frozen at whichever moment. It uses github.com/jackc/pgx/v5 and Postgres 14 or later.
//
// [Store.Enqueue] adds a payment to your transaction, next to your order: both are committed, or neither. [Store.Run] sends
// due payments, in as many processes as you like, and records each outcome; then [Workers].Settled writes to your books, once.
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
// A claimed payment belongs to its worker for a time that nothing can shorten, 3 minutes and 40 seconds with the defaults:
// [journal.Workers.Run] names its parts. The client compares the deadline of the call with the clock again before it writes, when it
// has token, slot and connection. When a worker dies, the next one takes its payments after the lease, as unknown outcomes: under the
// same request ID, with LastSent set to the last moment at which the dead worker can have sent.
//
// Only Postgres's clock decides, and one that jumps forward ends leases early: keep the clocks of the machines synchronised.
// docs/payments-at-scale.md names the remaining risks, such as a process that is frozen for long just before it writes to the connection.
//
// # Failover
//
// A standby that replicates synchronously (synchronous_commit on and synchronous_standby_names) loses nothing. An asynchronous one,
// or a backup, may lack the last commits. If that is a claim, workers send the payment at once, while an earlier worker may still be
// sending it. So end the workers, call [Store.Recover] once on the promoted server, and start them again. Two risks remain:
//
//   - A payment whose Enqueue was lost has no row, and may have been made. If its worker survives, it logs the success and
//     calls Trace.Gone. Enqueue the order again under its request ID, with LastSent set to now: the service returns its first response.
//   - A person's decision that was lost is void. Withdraw again, before Recover, each payment that was paid some other way. A rejected
//     payment may have been retried and made: look at the account's history before you withdraw it.
//
// # Outcomes
//
// A payment that was not sent, because there was no token, connection or slot, is sent later; the workers slow down meanwhile. One of
// unknown outcome is sent again under its request ID, no earlier than its client allows, until a success or a refusal that proves
// that nothing moved, as [journal.State.Next] says; after the lease only a success is recorded. 29 days after its first attempt, or
// when the client refuses its request ID, it waits for a person: [Store.Waiting], [Store.Resolve]. A rejected payment is not sent
// again, unless [Store.Retry] says so.
//
// # Privacy
//
// Request ID, account, amount, state, times and the service's IDs and codes are stored in clear. Destination, references and user
// names are not: they are encrypted with [Options].Seal until the payment is done or withdrawn, and recognised by digests under
// [Options].DigestKey. Logs and errors have none of them.
//
// # Connections and poolers
//
// A Run uses up to six connections of the pool. pgxpool allows four by default: set MaxConns to the number that your own queries need plus
// six. Idle workers ask for payments four times a second, which reads a few pages of one index.
//
// Behind a pooler such as PgBouncer, set default_query_exec_mode=exec in the address of the pool or, if the pooler is in session
// mode, [Options].SessionPooler. Otherwise [Open] returns [ErrPooler].
package prepaidpg
