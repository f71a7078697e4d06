package internal_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/prepaidtest/internal/wire"
)

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
