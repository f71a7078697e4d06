package wire

import (
	"bytes"
	"encoding/json"
)

// AppendJSON appends a value. The emulator's own types always marshal.
func AppendJSON[T any](to []byte, value T) []byte {
	text := bytes.NewBuffer(to)
	encoder := json.NewEncoder(text)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(value)
	return bytes.TrimSuffix(text.Bytes(), []byte("\n"))
}
