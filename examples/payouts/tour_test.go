package main

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cardprograms/prepaid/contrib/postgres/pgtest"
	"github.com/cardprograms/prepaid/internal/tests/transcript"
)

// What docs/tour.md shows of this program is what it prints, in fewer orders unless the document is written.
func TestTour(t *testing.T) {
	t.Parallel()
	pgtest.Start(t, pgtest.Options{}) // or skips the test
	orders := 200
	if transcript.Updating() {
		orders = 3000
	}
	shown := transcript.Session(t, nil, "cd examples/payouts", "go run . -orders "+strconv.Itoa(orders)+" | grep -v queued")
	transcript.Require(t, "docs/tour.md", "payouts", shown, kinds)
}

// kinds returns the lines without their numbers, each once: accidents differ in time and order. A process that starts while
// Postgres is away ends and starts again.
func kinds(text string) string {
	lines := strings.Split(regexp.MustCompile(`\d+(\.\d+)?`).ReplaceAllString(text, "N"), "\n")
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, " ended (") })
	for i := range lines {
		lines[i] = strings.TrimSpace(lines[i])
	}
	slices.Sort(lines)
	return strings.Join(slices.Compact(lines), "\n")
}
