package wire

import (
	"bytes"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestHasError(t *testing.T) {
	t.Parallel()
	for before := range 40 {
		for after := range 40 {
			text := strings.Repeat("r", before) + `"error"` + strings.Repeat("r", after)
			require.True(t, HasError([]byte(text)), text)
			require.False(t, HasError([]byte(strings.Replace(text, "o", "e", 1))))
		}
	}
}

// FuzzHasError compares HasError to a search.
func FuzzHasError(f *testing.F) {
	for _, seed := range []string{"", `"error"`, `{"balance":1,"occurred":"mirror","terror":"error"}`, `rrrrrrrrrror"error`, `"err"error"`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		require.Equal(t, bytes.Contains(body, []byte(`"error"`)), HasError(body))
	})
}
