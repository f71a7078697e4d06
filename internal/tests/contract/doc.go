// Package contract holds a fixture for each operation and outcome of the service's reference: a request, a response and the
// client's result. Other suites use the fixtures as the requests of all operations.
//
// Its tests use the client only from outside:
//   - The fixtures prove that each request is as the reference specifies, that every field of every response is read, that a
//     response needs only the members that the reference requires, and that each type survives JSON in both directions. The
//     fixtures follow the reference, not the client's types.
//   - e2e_*: client and emulator follow the reference in the same way. They share only the types of IDs. Tests call each operation
//     of the emulator, with and without faults.
//   - limits_*: the client refuses the values that the reference refuses, and no other values. For each limit, a row has a value
//     that breaks only this limit, and the nearest legal value. A registration that the service has returned can always be sent
//     back unchanged.
//   - privacy_*: no error, log, trace or printed value contains a secret or a personal value, after any failure. Each text of each
//     exported type, each request and each response holds a canary that names its field; the tests look for canaries in
//     everything that the client writes.
package contract
