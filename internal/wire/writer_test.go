package wire

import (
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

func TestWriter(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", "Zoë & <b>", "a\"b\\c/d", "tab\t \x00 \u2028", "long enough for words of eight \x1f"} {
		want, err := json.Marshal(struct {
			Text  string `json:"text"`
			Count int    `json:"count"`
		}{text, -3})
		require.NoError(t, err)
		var w Writer
		w.Text(`{"text":`, text)
		w.Integer(`,"count":`, -3)
		require.NoError(t, w.Err)
		require.Equal(t, string(want), string(w.Body)+"}")
	}
}

func TestWriterRefuses(t *testing.T) {
	t.Parallel()
	var w Writer
	w.Text(`{"text":`, "bad \xff")
	w.Text(`,"more":`, "é")
	require.Error(t, w.Err)
}
