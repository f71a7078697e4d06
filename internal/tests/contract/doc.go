// Package contract holds a fixture for each operation and outcome of the service's reference: a request, a response and the
// client's result. Other suites use the fixtures as the requests of all operations.
//
// Its tests prove that each request is sent as the reference writes it, that every field of every response is read, that the
// members which the reference requires are required and everything else is tolerated, and that
// each type survives JSON in both directions. They are written against the reference and not against the client's types.
package contract
