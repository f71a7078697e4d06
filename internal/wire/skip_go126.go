//go:build goexperiment.jsonv2 && !go1.27

package wire

import "encoding/json/v2"

// ErrSkip, returned by an unmarshal function, leaves a value to the JSON library: the experiment of Go 1.26 has its own
// error.
var ErrSkip = json.SkipFunc
