// Package contract holds a fixture for each operation and outcome of the service's reference: a request, a response and the
// client's result. Other suites use the fixtures as the requests of all operations.
//
// Its tests prove that each request is as the reference specifies, that every field of every response is read, that a response
// needs only the members that the reference requires, and that each type survives JSON in both directions. The fixtures follow
// the reference, not the client's types.
package contract
