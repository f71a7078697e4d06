package prepaid

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
)

// jsonLibrary is a JSON implementation: the value types must behave the same under both.
type jsonLibrary struct {
	name      string
	marshal   func(any) ([]byte, error)
	unmarshal func([]byte, any) error
}

func jsonLibraries() []jsonLibrary {
	return []jsonLibrary{
		{"v1", json.Marshal, json.Unmarshal},
		{
			"v2",
			func(v any) ([]byte, error) { return jsonv2.Marshal(v) },
			func(data []byte, v any) error { return jsonv2.Unmarshal(data, v) },
		},
	}
}

// eachJSON runs test under both JSON implementations.
func eachJSON(t *testing.T, test func(t *testing.T, lib jsonLibrary)) {
	t.Helper()
	for _, lib := range jsonLibraries() {
		t.Run(lib.name, func(t *testing.T) {
			t.Parallel()
			test(t, lib)
		})
	}
}
