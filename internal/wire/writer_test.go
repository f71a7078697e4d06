//go:build !prepaid_nofastpath

package wire

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "Zoë & <b>", "a\"b\\c/d", "tab\t \x00 \u2028", "long enough for words of eight \x1f"} {
		type inner struct {
			Text string `json:"text"`
		}
		want, err := json.Marshal(struct {
			Text   string  `json:"text"`
			Count  int     `json:"count"`
			Inner  inner   `json:"inner"`
			Amount float64 `json:"amount"`
		}{text, -3, inner{text}, 1.5})
		require.NoError(t, err)
		got, ok := Write(func(w *Writer) {
			w.Begin()
			w.Text("text", text)
			w.Integer("count", -3)
			w.Name("inner")
			w.Begin()
			w.Text("text", text)
			w.End()
			w.Name("amount")
			w.Append(func(b []byte) []byte { return append(b, "1.5"...) })
			w.End()
		})
		require.True(t, ok)
		require.Equal(t, string(want), string(got))
	}
}

func TestWriterFallsBack(t *testing.T) {
	t.Parallel()
	_, ok := Write(func(w *Writer) {
		w.Begin()
		w.Text("text", "bad \xff")
		w.End()
	})
	require.False(t, ok)
}
