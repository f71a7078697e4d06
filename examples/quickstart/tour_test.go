package main

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/tests/transcript"
)

// docs/tour.md shows this program's real output.
func TestTour(t *testing.T) {
	t.Parallel()
	shown := transcript.Session(t, nil, "go run ./examples/quickstart")
	transcript.Require(t, "docs/tour.md", "quickstart", before(t, shown, 4)+"\n...\n\n"+since(t, shown, 10, "\nNext,"), transcript.Stable)
	transcript.Require(t, "docs/tour.md", "lost-response", since(t, shown, 9, "\n10."), transcript.Stable)
}

// before is everything above a step.
func before(t *testing.T, shown string, step int) string {
	t.Helper()
	above, _, ok := strings.Cut(shown, fmt.Sprintf("\n%2d. ", step))
	require.True(t, ok, shown)
	return above
}

// since is a step and the text after it, up to end.
func since(t *testing.T, shown string, step int, end string) string {
	t.Helper()
	_, below, ok := strings.Cut(shown, fmt.Sprintf("\n%2d. ", step))
	require.True(t, ok, shown)
	below, _, ok = strings.Cut(below, end)
	require.True(t, ok, shown)
	return fmt.Sprintf("%2d. ", step) + below
}
