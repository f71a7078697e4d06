package prepaid

import (
	"encoding/json"
	"testing"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

// jsonLibrary is one of the two JSON implementations that the value types must behave the same under.
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

func TestJSONScalar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		kind scalarKind
		text string
	}{
		{`null`, scalarNull, ""},
		{`0`, scalarNumber, "0"},
		{`-1.5e3`, scalarNumber, "-1.5e3"},
		{`""`, scalarString, ""},
		{`"a"`, scalarString, "a"},
		{`"\u0031\/2"`, scalarString, "1/2"},
		{`"é"`, scalarString, "é"},
		{`"\ud800"`, scalarString, "\ufffd"},
		{"\"a\xff\"", scalarString, "a\ufffd"},
		{``, scalarOther, ""},
		{`"`, scalarOther, ""},
		{`"a`, scalarOther, ""},
		{`"a"b"`, scalarOther, ""},
		{`"\"`, scalarOther, ""},
		{`"\x"`, scalarOther, ""},
		{`true`, scalarOther, ""},
		{`nul`, scalarOther, ""},
		{`{}`, scalarOther, ""},
		{`[1]`, scalarOther, ""},
		{` 1`, scalarOther, ""},
		{`+1`, scalarOther, ""},
		{`.5`, scalarOther, ""},
	} {
		kind, text := jsonScalar([]byte(test.in))
		require.Equal(t, test.kind, kind, test.in)
		require.Equal(t, test.text, string(text), test.in)
	}
}
