package wire

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestAppendTimeIsTheLayout(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for at := time.Date(1969, 12, 25, 23, 59, 59, 0, time.UTC); at.Year() < 2110; at = at.Add(day - 7*time.Second) {
		require.Equal(t, at.Format(TimeLayout), string(appendTime(nil, at)))
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2000, 2, 29, 12, 0, 0, 5, time.FixedZone("", 3600))} {
		require.Equal(t, at.UTC().Format(TimeLayout), string(appendTime(nil, at)))
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", `"quoted\\"`, "line\nbreak", "\x00", "ä€😀", "</script>", "\x7f"} {
		var got string
		require.NoError(t, json.Unmarshal(appendString(nil, text), &got))
		require.Equal(t, text, got)
	}
}
