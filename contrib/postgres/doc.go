// Package prepaidpg stores payments in Postgres, so that any number of processes can pay them: nobody is paid twice or left
// out, whichever of them is killed or frozen at whichever moment.
//
// [Store.Enqueue] adds a payment to a transaction of yours, next to your order: both are committed, or neither. [Store.Run]
// sends what is due, in as many processes as you like, and records each outcome in one transaction with what
// [Workers].Settled writes to your books. It uses github.com/jackc/pgx/v5 and Postgres 14 or later.
//
// # How a payment is sent
//
// A worker claims payments that are due with FOR UPDATE SKIP LOCKED. The commit of the claim is the intent, and waits for the
// disk whatever synchronous_commit says. The call follows outside any transaction. The outcome is written only if the
// payment still belongs to this worker (the row has the number of its lease), in one transaction with Settled.
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
// ends leases early: keep the clocks of the machines synchronised. And a failover to a standby that lacks the last commits
// loses intents: use synchronous replication (synchronous_commit on and synchronous_standby_names), or stop the workers for
// the length of a lease after a failover.
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
// # Connections
//
// A Run uses up to six connections of the pool, and one of its own that listens for new payments. pgxpool allows four by
// default: set MaxConns to what your own queries need plus six. Behind a pooler that does not support LISTEN, a new payment
// waits for up to 30 s.
package prepaidpg
