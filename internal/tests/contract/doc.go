// Package contract compares the client with the reference document, and holds a fixture for each success and each error with a special
// meaning. Other suites use the fixtures as the requests of all operations.
//
// Its tests use the client only from outside:
//   - Requests, responses, errors, limits and texts are made from the document (package sample) and bound to the client's fields by the
//     Go names in it: a member without a field, or a field without a member, fails. Tables list where the client is stricter or laxer,
//     and why.
//   - The fixtures are readable requests and responses, used with gock as partners do.
//   - rules_*, limits_*: rules that no schema has. For each, a value breaks only this rule, and the nearest legal value is sent. A
//     registration that the service has returned can always be sent back unchanged.
//   - privacy_*: no error, log, trace or printed value contains a secret or a personal value, after any failure. Each text of each
//     exported type, each request and each response holds a canary that names its field; the tests look for canaries in
//     everything that the client writes.
//   - e2e_*: client and emulator follow the reference in the same way.
package contract
