// Package exchange handles one request of the emulator: it finds the operation, reads the input, and writes the response
// to the connection.
//
// A Table finds the Route of a request. A Call reads body and query, refuses input as the conventions of the reference
// require, and makes responses; a Form holds the choices that the reference leaves open. A Response is data until Write or
// WriteStream sends it, so that a fault can still change it. A Door is a listener that takes back connections: net/http
// refuses to write a 204 with a body, so such a response bypasses net/http and must leave the connection open.
//
// The package does not know the operations themselves, and keeps no state but a pool of buffers.
package exchange
