// Package limits proves that nothing is sent that the reference refuses, and that nothing else is refused: a row for each
// limit of the reference breaks just that limit, and holds the nearest legal value next to it. A registration that the
// service holds can always be put back.
package limits
