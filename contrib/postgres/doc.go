// Package prepaidpg stores payments in Postgres, so that any number of processes can pay them. Each payment is made once,
// even if processes are killed or frozen at any moment. It uses github.com/jackc/pgx/v5 and Postgres 14 or later.
//
// [Store.Enqueue] adds a payment to the transaction of your order: both are committed, or neither. [Store.Run] sends due payments,
// in as many processes as you like, and records each outcome. [Workers].Settled then writes the outcome to your books, once.
//
// # How a payment is sent
//
// A worker claims due payments with FOR UPDATE SKIP LOCKED. The commit of the claim records the intent; it waits for the disk, whatever
// synchronous_commit is. The call follows outside any transaction. The outcome is written only if the payment still belongs to this
// worker (its row has the lease's number). The same write marks that Settled is due. Settled then runs in a transaction that also
// removes the mark. A Store is a [journal.Store]; its workers are [journal.Workers].
//
// # The lease
//
// A claimed payment belongs to its worker for a time that nothing can shorten: 3 minutes and 40 seconds by default; [journal.Workers.Run]
// lists its parts. When the client has token, slot and connection, it compares the call's deadline with the clock again before it writes
// the request. If a worker dies, another worker takes its payments after the lease. The new worker treats their outcome as unknown: it
// sends them under the same request ID, with LastSent set to the last moment at which the dead worker can have sent.
//
// Only Postgres's clock decides. If it jumps forward, leases end early: keep the machines' clocks synchronised. docs/payments-at-scale.md
// names the remaining risks, such as a process that freezes for long just before it writes to the connection.
//
// # Failover
//
// A synchronous standby (synchronous_commit on and synchronous_standby_names) loses nothing. An asynchronous standby, or a backup,
// may lack the last commits. If a claim is lost, workers send the payment at once, while an earlier worker may still be sending it.
// So end the workers, call [Store.Recover] once on the promoted server, and start the workers again. Two risks remain:
//
//   - A payment whose Enqueue was lost has no row, and may have been made. Its worker, if alive, logs the success and calls Trace.Gone.
//     Enqueue the payment again under its request ID, with LastSent set to now: the service returns its first response.
//   - A lost decision of a person is void. Before Recover, withdraw again each payment that was paid some other way. A rejected
//     payment may have been retried and made: look at the account's history before you withdraw it.
//
// # Outcomes
//
// A payment that was not sent, for lack of a token, connection or slot, is sent later; workers slow down meanwhile. A
// payment of unknown outcome is sent again under its request ID, no earlier than its client allows, until there is a
// success, or a refusal that proves that nothing moved; see [journal.State.Next]. After its lease a worker can only
// record a success. 29 days after its first attempt, or when the client refuses its request ID, the payment waits for a
// person: [Store.Waiting], [Store.Resolve]. A rejected payment is sent again only after [Store.Retry].
//
// # Privacy
//
// Request ID, account, amount, state, times and the service's IDs and codes are stored in clear text. Destination,
// references and user names are encrypted with [Options].Seal until the payment is done or withdrawn; digests with
// [Options].DigestKey remain. Logs and errors contain none of the encrypted texts.
//
// # Connections and poolers
//
// A Run uses up to six connections of the pool. pgxpool allows four by default: set MaxConns to six plus the number that your own queries
// need. Idle workers look for payments four times a second, and read a few pages of one index.
//
// Behind a pooler such as PgBouncer, set default_query_exec_mode=exec in the address of the pool or, if the pooler is in session
// mode, [Options].SessionPooler. Otherwise [Open] returns [ErrPooler].
package prepaidpg
