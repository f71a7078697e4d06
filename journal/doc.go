// Package journal keeps an append-only, synced record of payments in a plain file, so that a program which moves
// money in bulk can be killed at any moment and run again: nobody is paid twice or left out.
//
// [Journal.Transfer] and [Journal.DirectEntryOut] write the intent, sync it, send, and write the outcome. Run again
// with the same params, a payment that is done is not sent; one whose outcome is unknown is sent again under its
// request id, which the service answers from its cache.
//
// # File
//
// A header line, then one record a line: CRC-32C and length of the record in hex, and the record in JSON. The last
// record of a request id counts. A last line without its end is cut off on opening; any other damage is [ErrCorrupt].
//
// # Privacy
//
// Account, amount and request id lie in clear. Destination and references do not: the file holds a SHA-256 of them,
// keyed with [Options].DigestKey. Without a key, whoever has the file can find a bank account number by trying.
package journal
