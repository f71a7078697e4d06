//go:build !goexperiment.jsonv2 || go1.27

package wire

import "errors"

// ErrSkip is the error with which an unmarshal function leaves a value to the JSON library.
var ErrSkip = errors.ErrUnsupported
