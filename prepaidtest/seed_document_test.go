package prepaidtest

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// seedTables reads docs/emulator-seed.md: the type of each member, by the path of its object.
func seedTables(t *testing.T) map[string]map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join("..", "docs", "emulator-seed.md"))
	require.NoError(t, err)
	tables := make(map[string]map[string]string)
	var object map[string]string
	for line := range strings.Lines(string(text)) {
		if heading, ok := strings.CutPrefix(line, "## "); ok {
			path := strings.Trim(strings.TrimSpace(heading), "`")
			if path == "The document" {
				path = ""
			}
			require.NotContains(t, tables, path)
			object = make(map[string]string)
			tables[path] = object
			continue
		}
		if cells := strings.Split(line, " | "); strings.HasPrefix(line, "| `") { // names with one type and meaning share a row
			for name := range strings.SplitSeq(strings.Trim(cells[0], "| `"), "`, `") {
				require.NotContains(t, object, name)
				object[name] = cells[1]
			}
		}
	}
	return tables
}

// seedPath builds the document that holds value at path.
func seedPath(path, value string) string {
	steps := strings.Split(path, ".")
	for _, step := range slices.Backward(steps) {
		if name, listed := strings.CutSuffix(step, "[]"); listed {
			value = `{"` + name + `":[` + value + `]}`
		} else if step != "" {
			value = `{"` + step + `":` + value + `}`
		}
	}
	return value
}

func join(path, name string) string { return strings.TrimPrefix(path+"."+name, ".") }

// TestLoad_Documentation compares tables and code: each object has exactly the members of its table.
func TestLoad_Documentation(t *testing.T) {
	t.Parallel()
	c := startWithoutToken(t, Options{})
	known := regexp.MustCompile(`\? is not known here; known are ([^;]*)`)
	tables := seedTables(t)
	for path, members := range tables {
		err := c.Load(strings.NewReader(seedPath(path, `{"?":1}`)))
		require.Error(t, err, path)
		found := known.FindStringSubmatch(err.Error())
		require.NotNil(t, found, path)
		require.Equal(t, slices.Sorted(maps.Keys(members)), strings.Split(found[1], ", "), path)
		for name, kind := range members {
			inner := join(path, name)
			switch kind {
			case "object":
				require.Contains(t, tables, inner)
			case "array of objects":
				require.Contains(t, tables, inner+"[]")
			default: // no object is read here
				for _, value := range []string{`{"?":1}`, `[{"?":1}]`} {
					err := c.Load(strings.NewReader(seedPath(inner, value)))
					require.ErrorContains(t, err, "must be", inner)
					require.NotContains(t, err.Error(), "known are", inner)
				}
				require.ErrorContains(t, c.Load(strings.NewReader(seedPath(inner, wrongValue(kind)))), wrongType(t, kind), inner)
			}
		}
	}
}

func wrongValue(kind string) string {
	if kind == "string" {
		return "1"
	}
	return `"sekret"`
}

// wrongType is the code's error for a value of another type than in the tables.
func wrongType(t *testing.T, kind string) string {
	t.Helper()
	rules := map[string]string{
		"string": "must be a string", "integer": "must be an integer", "boolean": "must be true or false", "date-time": "must be a date-time",
		"amount": "must be a decimal number", "array of integers": "must be an array", "array of strings": "must be an array",
	}
	require.Contains(t, rules, kind)
	return rules[kind]
}

// TestLoad_ExampleUsesEveryMember keeps the example complete; TestLoad_Example loads it.
func TestLoad_ExampleUsesEveryMember(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "seed.json"))
	require.NoError(t, err)
	var example any
	require.NoError(t, json.Unmarshal(text, &example))
	used := make(map[string]bool)
	var walk func(path string, value any)
	walk = func(path string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, inner := range value {
				used[join(path, name)] = true
				walk(join(path, name), inner)
			}
		case []any:
			for _, inner := range value {
				walk(path+"[]", inner)
			}
		}
	}
	walk("", example)
	named := make(map[string]bool)
	for path, members := range seedTables(t) {
		for name := range members {
			named[join(path, name)] = true
		}
	}
	require.Equal(t, named, used)
}
