// Package exchange is one request on its way through the emulator: the operation it is for, its input, and its response
// until that is on the connection.
//
// A Table finds the Route of a request. A Call reads body and query, with the refusals that the conventions of the reference
// ask for, and makes responses; a Form holds the choices that the reference leaves open. A Response is data until Write or
// WriteStream sends it, so that a fault can still change it. A Door is a listener that takes back connections: a 204 with a
// body, which net/http refuses to write, goes around net/http and must leave the connection open.
//
// The package does not know the operations themselves, and keeps no state but a pool of buffers.
package exchange
