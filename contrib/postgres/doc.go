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
// lists its parts. If a worker dies, another worker takes its payments after the lease. The new worker treats their outcome as unknown: it
// sends them under the same request ID, with LastSent set to the last moment at which the dead worker can have sent. Only Postgres's
// clock decides: the clocks of workers may be set. docs/payments-at-scale.md names the remaining risks, and the rules for a failover, after
// which workers stop until you call [Store.Recover].
//
// A worker that took longer than its lease can only record a success. From 29 days after its first attempt, or once the client
// refuses its request ID, a payment of unknown outcome waits for a person: [Store.Waiting], [Store.Resolve]. A rejected payment is
// sent again only after [Store.Retry].
//
// # Privacy
//
// Request ID, account, amount, state, times and the service's IDs and codes are stored in clear text. Destination,
// references and user names are encrypted with [Options].Seal until the payment is done or withdrawn; digests with
// [Options].DigestKey remain. Logs and errors contain none of the encrypted texts.
//
// # Connections
//
// A Run uses up to ten connections of the pool, or up to sixteen while Settled is slow: calls of Settled get at most half of the pool.
// pgxpool allows four by default: set MaxConns to ten plus the number that your own queries need. Idle workers look for payments four
// times a second, for those of unknown outcome every 10 s, and read a few pages of one index.
//
// Settings of a session, such as DateStyle or bytea_output, change no result. The database can have any encoding: in the IDs of a
// response, a character outside ASCII is stored as "?". If your request IDs or accounts have such characters, use one client_encoding.
package prepaidpg
