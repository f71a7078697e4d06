package tour

import (
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/transcript"
)

// docs/tour.md shows this program's real output.
func TestTourOfQuickstart(t *testing.T) {
	t.Parallel()
	shown := transcript.Session(t, nil, "go run ./examples/quickstart")
	steps := regexp.MustCompile(`(?s)^(.*?)\n 4\. .*\n( 9\. .*?)\n10\. `).FindStringSubmatch(shown)
	require.Len(t, steps, 3, shown)
	transcript.Require(t, "docs/tour.md", "quickstart", steps[1]+"\n...\n", transcript.Stable)
	transcript.Require(t, "docs/tour.md", "lost-response", steps[2], transcript.Stable)
}
