// Package journal keeps an append-only, synced record of payments in a plain file, so that a program that moves money in
// bulk can be killed at any moment and run again: no payment is made twice or left out.
//
// Use it for a payroll, a bulk load or a queue of transfers, where you must know after a crash which payments were
// made, and have no database for that. One file serves one process at a time.
//
// # Paying and resuming
//
// [Journal.PayAll] makes all payments of a list; [Journal.Transfer] and [Journal.DirectEntryOut] make one. Each writes the
// intent, syncs, sends the payment, and writes the outcome. To resume, run the whole list again with the same params. A done
// payment is not sent. A rejected or unsent payment is sent. A payment of unknown outcome is sent again under its request ID: if
// the service has paid, it returns the cached response. This repeat waits until [Journal.NotBefore], when the first request can
// no longer be running. By default NotBefore is 40 s after the attempt or, if its process died, after the file was next opened.
// [Journal.Withdraw] a rejected payment if you pay some other way. Payments that are made at the same time share their syncs.
//
// With [Options].Seal the file also has the encrypted params, and [Journal.Resume] sends pending payments without your list.
// [Journal.Compact] removes the params of done and withdrawn payments.
//
// A request ID must be the same in each run: derive it from the payment's data with [prepaid.DeriveRequestID], or store
// it. Different params under a known ID return [ErrChanged], with the state of the recorded payment, and nothing is
// sent. Then do not pay under a new ID; a person must decide.
//
// # Unknown outcomes
//
// After 29 days the journal returns [ErrWindow]: the service may have forgotten the request ID and could pay twice.
// Search for the movement with FindMovement (take the time from the error: [prepaid.FindMovementParams.Around]), or
// ask the operator. Record the result with [Journal.Resolve]. [Journal.Pending] lists the remaining payments,
// [Journal.Stats] adds them up.
//
// A client refuses a request ID that is more than 22 days old. This refusal is [ErrWindow] too, even for a payment that
// this journal has never sent ([Entry].Runs is 0). docs/money-safety.md says when Runs 0 proves that nothing moved.
// Otherwise look at the history from 7 days before the day in the ID to 22 days after that day.
//
// # File
//
// The file has a header line, then one record per line: CRC-32C and length in hex, and the JSON. The last record of a
// request ID is current. Open cuts off an incomplete last line. Any other damage is [ErrCorrupt] and is not repaired: a
// power cut during a shared sync may leave a hole, which a person must look at. [Journal.Compact] rewrites the file
// without settled payments.
//
// Open reads and checks the whole file, and keeps an index of it in memory: about 100 bytes for each payment. Entries are read
// from the file when needed. If an entry cannot be read again, nothing more is recorded or sent: see [Journal.Err].
//
// The file is locked while it is open. On Unix the file itself is locked, on Windows a separate file with the suffix
// .lock; the system releases each lock when the process dies. The package needs a Unix with flock (Linux, macOS, BSD) or
// Windows. Use a local disk: locks and syncs of network file systems guarantee less.
//
// Do not rename or remove the file, its directory or a link to it while it is open: another process could open a new file
// under the same path and send the same payments. The journal checks its path before and after each write. If the path names
// another file or none, the journal records and sends nothing more: [ErrMoved].
//
// # Privacy
//
// Account, amount and request ID are stored in plain text. Of destination and references the file has only SHA-256
// digests, keyed with [Options].DigestKey. Without a key, anyone who has the file can find a bank account number by
// trying all numbers. Keep the key as long as the file: with another key every payment is [ErrChanged].
package journal
