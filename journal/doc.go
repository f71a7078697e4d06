// Package journal keeps an append-only, synced record of payments in a plain file, so that a program which moves
// money in bulk can be killed at any moment and run again: nobody is paid twice or left out.
//
// Use it for a payroll, a bulk load, a queue of transfers: wherever "which of these were paid?" must have an answer
// after a crash and there is no database that says so. One file serves one process at a time.
//
// # Paying and resuming
//
// [Journal.Transfer] and [Journal.DirectEntryOut] write the intent, sync it, send, and write the outcome. To resume,
// run the whole list again with the same params: a payment that is done is not sent; one that was rejected or not
// sent is sent; one whose outcome is unknown is sent again under its request id, which the service answers from its cache
// if it has paid, and not before [Journal.NotBefore], when the first sending can no longer be under way. With the client's
// default settings that is 40 s after the sending or, when its process died, after the file was opened. A rejected payment
// is not pending, but is sent when it is called again: take out of the list what was paid another way. Calls at once share their syncs, so pay with many goroutines.
//
// A request id must be the same in each run: derive it from what the payment is, with [prepaid.DeriveRequestID], or
// store it. Other params under a known id are [ErrChanged]: nothing is sent, and the error reports how far the recorded
// payment has come. Do not pay under a new id then; have a person decide.
//
// # What stays unknown
//
// After 29 days the service may have forgotten the request id, and sending again could pay twice: [ErrWindow]. Look
// for the movement with FindMovement, whose params take the time from the error
// ([prepaid.FindMovementParams.Around]), or ask the operator, and tell the journal with [Journal.Resolve].
// [Journal.Pending] lists what is left to do and [Journal.Stats] adds it up.
//
// A client refuses a request id that is over 22 days old, and that is [ErrWindow] too: also of a payment that this
// journal has never sent, as when a run begins late. It is not told as "not sent", because the journal may have lost or
// dropped an earlier run, and because the payment can only go on under a new id, which would pay again. [Entry].Runs is
// 0 then. When the file is the only sender of its ids, and neither it nor, by [Journal.Compact], the payment was ever
// taken away, that is proof: tell the journal [NotMoved] for each such entry, and give the payments new ids. Otherwise
// look at the history from 7 days before the id's own time to 22 days after it.
//
// # File
//
// A header line, then one record per line: CRC-32C and length of the record in hex, and the record in JSON. The last
// record of a request id counts. A last line without its end is cut off on opening; any other damage is [ErrCorrupt],
// and nothing is mended by guessing: a power cut in the middle of a shared sync may leave a hole, which a person must
// look at. [Journal.Compact] rewrites the file without what is over.
//
// The file is locked while it is open. On Unix the lock is on the file itself, on Windows it is a file beside it, named
// .lock; the system releases both when the process dies. Elsewhere the .lock file of a dead process has to be removed
// by hand. Keep the journal on a local disk: locks and syncs of network file systems promise less.
//
// # Privacy
//
// Account, amount and request id lie in clear. Destination and references do not: the file holds a SHA-256 of them,
// keyed with [Options].DigestKey. Without a key, whoever has the file can find a bank account number by trying. Keep
// the key as long as the file: under another one every payment is [ErrChanged].
package journal
