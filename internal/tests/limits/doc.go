// Package limits proves that the client refuses the values that the reference refuses, and no other values. For each limit
// of the reference, a row has a value that breaks only this limit, and the nearest legal value. A registration that
// the service has returned can always be sent back unchanged.
package limits
