// Package exchange handles one request of the emulator: it finds the operation, reads the input, and writes the response
// to the connection.
//
// A Table finds the Route of a request. A Call reads body and query, refuses input as the conventions of the reference
// require, and makes responses; a Form holds the choices that the reference leaves open. A Response is data until Write
// sends it, so that a fault can still change it.
//
// The package does not know the operations themselves, and keeps no state.
package exchange
