// Package limits proves that nothing is sent that the reference refuses, and that nothing else is refused: a row for each
// limit of the reference breaks only that limit, and has the nearest legal value. A registration that the service holds
// can always be put back.
package limits
