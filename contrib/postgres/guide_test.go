package prepaidpg

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The queries of the guide are valid on the tables of this version.
func TestGuideQueries(t *testing.T) {
	t.Parallel()
	pool := newPool(t)
	guide, err := os.ReadFile("../../docs/payments-at-scale.md")
	require.NoError(t, err)
	queries := regexp.MustCompile("(?s)```sql\n(.*?)```").FindAllStringSubmatch(string(guide), -1)
	require.NotEmpty(t, queries)
	for _, query := range queries {
		var arguments []any
		if strings.Contains(query[1], "$1") {
			arguments = append(arguments, "order 7")
		}
		_, err := pool.Exec(t.Context(), query[1], arguments...)
		require.NoError(t, err, query[1])
	}
}
