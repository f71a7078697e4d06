// Package limits proves that the client sends no value that the reference refuses, and refuses no other value: a row for
// each limit of the reference breaks only that limit, and has the nearest legal value. A registration that
// the service has returned can always be sent back unchanged.
package limits
