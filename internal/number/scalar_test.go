package number

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestScalar(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		in   string
		kind Kind
		text string
	}{
		{`null`, Null, ""},
		{`0`, Number, "0"},
		{`-1.5e3`, Number, "-1.5e3"},
		{`""`, String, ""},
		{`"a"`, String, "a"},
		{`"\u0031\/2"`, String, "1/2"},
		{`"é"`, String, "é"},
		{`"\ud800"`, String, "\ufffd"},
		{"\"a\xff\"", String, "a\ufffd"},
		{``, Other, ""},
		{`"`, Other, ""},
		{`"a`, Other, ""},
		{`"a"b"`, Other, ""},
		{`"\"`, Other, ""},
		{`"\x"`, Other, ""},
		{`true`, Other, ""},
		{`nul`, Other, ""},
		{`{}`, Other, ""},
		{`[1]`, Other, ""},
		{` 1`, Other, ""},
		{`+1`, Other, ""},
		{`.5`, Other, ""},
	} {
		kind, text := Scalar([]byte(test.in))
		require.Equal(t, test.kind, kind, test.in)
		require.Equal(t, test.text, string(text), test.in)
	}
}
