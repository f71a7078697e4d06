package internal_test

import (
	"encoding/json"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

func TestAppendTimeIsTheLayout(t *testing.T) {
	t.Parallel()
	day := 24 * time.Hour
	for at := time.Date(1969, 12, 25, 23, 59, 59, 0, time.UTC); at.Year() < 2110; at = at.Add(day - 7*time.Second) {
		if got := written(func(o *wire.Writer) { o.Time("", at) }); got != `"`+at.Format(wire.TimeLayout)+`"` {
			require.Fail(t, "another text", "%s: %s", at, got)
		}
	}
	for _, at := range []time.Time{{}, time.Unix(0, 0), time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC), time.Date(2000, 2, 29, 12, 0, 0, 5, time.FixedZone("", 3600))} {
		require.Equal(t, `"`+at.UTC().Format(wire.TimeLayout)+`"`, written(func(o *wire.Writer) { o.Time("", at) }))
	}
}

func TestAppendStringIsJSON(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "plain", `"quoted\\"`, "line\nbreak", "\x00", "ä€😀", "</script>", "\x7f"} {
		var got string
		require.NoError(t, json.Unmarshal([]byte(written(func(o *wire.Writer) { o.String("", text) })), &got))
		require.Equal(t, text, got)
	}
}

// written returns the only member that write writes, without a name.
func written(write func(*wire.Writer)) string {
	o := wire.Begin(nil)
	write(&o)
	return strings.Trim(string(o.End()), "{}")
}
