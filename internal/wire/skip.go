//go:build !goexperiment.jsonv2 || go1.27

package wire

import "errors"

// ErrSkip is what an unmarshal function returns to leave a value to the JSON library.
var ErrSkip = errors.ErrUnsupported
