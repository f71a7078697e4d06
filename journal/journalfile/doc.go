// Package journalfile keeps the payments of package [journal] in a plain file, append-only and synced, so that a program without a
// database can be killed at any moment and run again. One file serves one process at a time. Package journal explains request IDs and
// unknown outcomes.
//
// # Paying and resuming
//
// [Journal.PayAll] makes all payments of a list; [Journal.Transfer] and [Journal.DirectEntryOut] make one. Each writes the intent, syncs,
// sends the payment, and writes the outcome. To resume, run the whole list again with the same params. A done payment is not sent. A
// rejected or unsent payment is sent. A payment of unknown outcome is sent again, but not before [Journal.NotBefore], when no earlier
// request can still be running. By default NotBefore is 40 s after the attempt or, if its process died, after the file was next
// opened; if the service's responses came late, the payment waits up to two minutes longer. If you pay a rejected payment some
// other way, call [Journal.Withdraw]. Payments made at the same time share their syncs.
//
// With [Options].Seal the file also has the encrypted params, and [Journal.Resume] or, in a server, [journal.Workers] send pending payments
// without your list. [Journal.Compact] removes the params of done and withdrawn payments. [Journal.Pending] lists the remaining payments,
// [Journal.Stats] adds them up, and [Journal.Resolve] records the outcome of one that is too old to be sent again.
//
// # File
//
// The file has a header line, then one record per line: CRC-32C and length in hex, and the JSON. The last record of a request ID is
// current. If a process died during payments, the next Open adds a record of its time, the latest at which that process can have sent.
// Open cuts off an incomplete last line. Any other damage is [ErrCorrupt] and is not repaired: a power cut during a shared sync may leave
// a hole that a person must look at. [Journal.Compact] rewrites the file without old finished payments.
//
// Open reads and checks the whole file, and keeps an index of it in memory: about 100 bytes for each payment. Entries are read
// from the file when needed. If an entry cannot be read again, nothing more is recorded or sent: see [Journal.Err].
//
// A second file, with the suffix .evidence, lets a wait for a repeat go on in the next process, see [Journal.SaveEvidence]. It is not needed
// in a backup.
//
// The file is locked while it is open. On Unix the file itself is locked, on Windows a separate file with the suffix
// .lock; the system releases each lock when the process dies. The package needs a Unix with flock (Linux, macOS, BSD) or
// Windows. Use a local disk: locks and syncs of network file systems guarantee less.
//
// Do not rename or remove the file, its directory or a link to it while it is open: another process could open a new file
// under the same path and send the same payments. The journal checks its path before and after each write. If the path names
// another file or none, the journal records and sends nothing more: [ErrMoved].
//
// Account, amount and request ID are stored in plain text, destination and references only as digests, see [journal.NewEntry].
package journalfile
