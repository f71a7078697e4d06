// Package reconcile compares a partner's books with the service: with the histories of accounts, or with a settlement report.
// It returns the result as values of type [Finding], and changes nothing.
//
// [Run.Findings] reads the rows of the books, then the history of each account, once. A history has no request IDs. A
// row that has a transaction ID matches the item with this ID, at any time. A row without a transaction ID matches an
// item of the same account and amount in its period, but only if neither has another candidate. Otherwise all equal
// candidates are [KindAmbiguous]: none of them is matched or missing.
//
// # What a finding proves
//
// A missing item never proves that no money moved: a history may be late, and clocks differ. [Finding].From and
// [Finding].CompleteTo are the period in which the history was complete. A row or item that is too recent for a
// decision is [KindTooEarly]; the next run decides about it. A history that breaks off gives an [AccountError] instead
// of findings, and the run continues with the next account.
//
// A finding is for a person, who asks the operator about it. It is no reason to send anything: only a transfer may be
// sent again, under its own request ID, by the rules of docs/money-safety.md.
//
// # A nightly run
//
// Store [Run.Checkpoint] after each run, and set it as Since of the next run, which then reads new items only. Late items
// may appear among those already read, and this machine's clock may be ahead: a run reads the period [Run].Overlap before
// the newest item again, or more while a row is in progress, and may repeat findings of that period. Derive a client for
// the run, so that its requests give way to calls for users:
//
//	nightly, err := client.With(prepaid.Overrides{Lane: ratelimit.Bulk})
//
// # Memory and disk
//
// Memory does not grow with the number of rows and items, except for the IDs that a client remembers while it reads one
// history. Memory grows by about 200 bytes for each account. Larger amounts of data are sorted in temporary files,
// which contain IDs, types, amounts, states and times, but no names, references or merchants. The files have mode 0600, and
// are removed at the end; most systems also remove the files of a process that was killed.
package reconcile
