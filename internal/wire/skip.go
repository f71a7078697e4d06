//go:build !goexperiment.jsonv2 || go1.27

package wire

import "errors"

// ErrSkip, returned by an unmarshal function, leaves a value to the JSON library.
var ErrSkip = errors.ErrUnsupported
