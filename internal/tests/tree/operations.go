package tree

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Operation is a line of operations.txt.
type Operation struct {
	Method, Path, Name, Success, Body, Safety, Section, Note string
}

// Operations returns the lines of operations.txt in their order.
func Operations(t testing.TB) []Operation {
	t.Helper()
	content, err := os.ReadFile(filepath.Join(Root(t), "operations.txt"))
	require.NoError(t, err)
	var rows []Operation
	for line := range strings.Lines(string(content)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		columns := strings.Fields(line)
		require.GreaterOrEqual(t, len(columns), 7, "%q", line)
		rows = append(rows, Operation{
			Method: columns[0], Path: columns[1], Name: columns[2], Success: columns[3], Body: columns[4], Safety: columns[5],
			Section: columns[6], Note: strings.Join(columns[7:], " "),
		})
	}
	return rows
}

// Class names what decides whether a request is repeated and what a response proves: the columns safety, body and success.
func (o Operation) Class() string { return o.Safety + " " + o.Body + " " + o.Success }

// OneOfEach returns the first of each class, so that a new class is never forgotten.
func OneOfEach[T any](all []T, class func(T) string) []T {
	seen := make(map[string]bool)
	var first []T
	for _, one := range all {
		if !seen[class(one)] {
			seen[class(one)] = true
			first = append(first, one)
		}
	}
	return first
}
