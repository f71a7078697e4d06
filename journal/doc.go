// Package journal keeps an append-only, synced record of payments in a plain file, so that a program that moves money in
// bulk can be killed at any moment and run again: no payment is made twice or left out.
//
// Use it for a payroll, a bulk load or a queue of transfers, wherever "which of these were paid?" must have an answer
// after a crash and no database has it. One file serves one process at a time.
//
// # Paying and resuming
//
// [Journal.PayAll] makes all payments of a list, [Journal.Transfer] and [Journal.DirectEntryOut] one: they write the intent, sync
// it, send the payment, and write the outcome. To resume, run the whole list again with the same params. A payment that is done
// is not sent. One that was rejected or not sent is sent. One of unknown outcome is sent again under its request ID, for which the
// service returns the cached response if it has paid, and not before [Journal.NotBefore], when the first request can no longer be
// running. With the client's default settings that is 40 s after the attempt or, if its process died, after the file was next
// opened. A rejected payment is not pending, but is sent when it is called again: [Journal.Withdraw] it if you pay some other
// way. Payments that are made at the same time share their syncs.
//
// With [Options].Seal the file has the params, encrypted, and [Journal.Resume] sends the pending payments without your list. When they
// are done or withdrawn, [Journal.Compact] removes the params.
//
// A request ID must be the same in each run: derive it from the payment's data with [prepaid.DeriveRequestID], or store
// it. Different params under a known ID are [ErrChanged]: nothing is sent, and the error contains the state of the
// recorded payment. Do not pay under a new ID then; a person must decide.
//
// # Unknown outcomes
//
// After 29 days the service may have forgotten the request ID, and sending again could pay twice: [ErrWindow]. Search for
// the movement with FindMovement, whose params take the time from the error ([prepaid.FindMovementParams.Around]), or ask
// the operator, and record the result with [Journal.Resolve]. [Journal.Pending] lists the remaining work and
// [Journal.Stats] adds it up.
//
// A client refuses a request ID that is more than 22 days old. That is [ErrWindow] too, even for a payment that this
// journal has never sent, for example if a run starts late. It is not reported as "not sent", because the journal may
// have lost or dropped an earlier run, and because the payment can only continue under a new ID, which would pay again.
// [Entry].Runs is 0 in this case. If only this file sends its IDs, and neither the file nor, by [Journal.Compact], the
// payment was ever removed, that is proof: record [NotMoved] for each such entry, and give the payments new IDs.
// Otherwise look at the history from 7 days before the ID's own time to 22 days after it.
//
// # Your own store
//
// [Workers] send the payments of any [Store]: of a Journal, of contrib/postgres, or of one that you write for your database. It has
// four methods, of one transaction each; [Entry] has the rules for their writes. Package storetest has a small store as its
// example, and the tests that each store must pass. See docs/money-safety.md.
//
// # File
//
// A header line, then one record per line: CRC-32C and length of the record in hex, and the record in JSON. The last
// record of a request ID is the current one. An incomplete last line is cut off on opening. Any other damage is
// [ErrCorrupt], and nothing is repaired by guessing: a power cut in the middle of a shared sync may leave a hole, which a
// person must look at. [Journal.Compact] rewrites the file without settled payments.
//
// Open reads and checks the whole file, and keeps an index of it in memory: about 100 bytes for each payment. Entries are read
// from the file when they are needed. If one cannot be read again, nothing more is recorded or sent: see [Journal.Err].
//
// The file is locked while it is open. On Unix the lock is on the file itself, on Windows it is a separate file with the
// suffix .lock; the system releases both when the process dies. On other systems the .lock file of a dead process must be
// removed manually. Keep the journal on a local disk: locks and syncs of network file systems guarantee less.
//
// Do not rename or remove the file, its directory or a link to it while it is open: another process could open a new file under
// the same path and send the same payments. The journal checks its path before and after each write, and records and sends
// nothing more if the path names another file or none: [ErrMoved].
//
// # Privacy
//
// Account, amount and request ID are stored in plain text. Destination and references are not: the file has their
// SHA-256, keyed with [Options].DigestKey. Without a key, anyone who has the file can find a bank account number by
// trying. Keep the key as long as the file: with another one every payment is [ErrChanged].
package journal
