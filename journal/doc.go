// Package journal makes each payment once, in any kind of store. A program that moves money in bulk, such as a
// payroll, a bulk load or a queue of transfers, can be killed at any moment and run again.
//
// The package has the record of a payment ([Entry]), its states ([State]), a run that sends it ([Run]), and [Workers] that
// send the payments of a [Store]. The stores are:
//
//   - Package journal/journalfile: a file for one process at a time, without a database.
//   - Module contrib/postgres: tables next to your orders, for workers on many machines.
//   - Your own: see [Run], or implement [Store] and test it with package journal/storetest.
//
// A request ID must be the same in each run: derive it from the payment's data with [prepaid.DeriveRequestID], or store
// it. Different params under a known ID return [ErrChanged], with the state of the recorded payment, and nothing is
// sent. Then do not pay under a new ID; a person must decide.
//
// # Unknown outcomes
//
// A payment of unknown outcome is sent again under its request ID: if the service has paid, it returns the cached response.
// After 29 days a run returns [ErrWindow] instead: the service may have forgotten the request ID and could pay twice.
// Search for the movement with FindMovement and the params of [Entry.Movement], or ask the operator. Record the result with [Entry.Resolve],
// or with Resolve of the store.
//
// A client refuses a request ID that is more than 22 days old. This refusal is [ErrWindow] too, even for a payment that
// this store has never sent ([Entry].Runs is 0). docs/money-safety.md says when Runs 0 proves that nothing moved.
// Otherwise search: [Entry.Movement] then has the times from 7 days before the day in the ID to 22 days after that day.
package journal
