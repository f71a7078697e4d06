//go:build goexperiment.jsonv2 && !go1.27

package wire

import "encoding/json/v2"

// ErrSkip is what an unmarshal function returns to leave a value to the JSON library: the experiment of Go 1.26 has an error of
// its own.
var ErrSkip = json.SkipFunc
