package prepaidtest

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
)

// Every operation, field, parameter and value in the map of the reference is in the document, in a part that names the same section.
func TestOpenAPIHasEveryRowOfTheReferenceMap(t *testing.T) {
	t.Parallel()
	text, err := OpenAPI(Options{})
	require.NoError(t, err)
	var root any
	require.NoError(t, json.Unmarshal(text, &root))
	found := places{}
	found.collect("", "", root)

	rows, err := os.ReadFile("../docs/reference-map.md")
	require.NoError(t, err)
	heading, number := regexp.MustCompile(`^##+ `), regexp.MustCompile(`(?:^### |sections? )([0-9.]+)`)
	row, list := regexp.MustCompile("^\\| (`[^|]*`) \\|"), regexp.MustCompile("^- `.+`: `([^`]+)`")
	section, checked := "", 0
	for line := range strings.Lines(string(rows)) {
		if heading.MatchString(line) {
			section = ""
			if match := number.FindStringSubmatch(line); match != nil {
				section = match[1]
			}
		}
		var words []string
		if match := row.FindStringSubmatch(line); match != nil {
			word, _, _ := strings.Cut(strings.Trim(match[1], "`"), "`")
			words = []string{word}
		} else if match := list.FindStringSubmatch(line); match != nil {
			words = strings.Fields(match[1])
		}
		for _, word := range words {
			word, _, _ = strings.Cut(word, "=")
			checked++
			require.NotEmpty(t, section, "the heading of %s names no section", word)
			at := found.of(section, word)
			require.NotEmpty(t, at, "the document has no %s of section %s", word, section)
			t.Logf("%s %s: %s", section, word, at)
		}
	}
	require.Greater(t, checked, 350)
	for _, operation := range operations.All() {
		require.NotEmpty(t, found.of(operation.Section, operation.Method+" "+operation.Path), operation.Name)
	}
}

// places are the pointers of words in the document, by section.
type places map[string]map[string]string

// of returns the places of a section's word. Sections 1, 3 and 7 are about all others.
func (p places) of(section, word string) string {
	if strings.Contains(section, ".") {
		return p[section][word]
	}
	for _, words := range p {
		if words[word] != "" {
			return words[word]
		}
	}
	return ""
}

func (p places) put(section, word, pointer string) {
	if p[section] == nil {
		p[section] = make(map[string]string)
	}
	if p[section][word] == "" {
		p[section][word] = pointer
	}
}

// collect walks the document. A part belongs to the section of the nearest x-reference around it.
func (p places) collect(section, pointer string, value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			p.collect(section, pointer, element)
		}
	case map[string]any:
		if own, has := value["x-reference"].(string); has {
			section = own
		}
		for name, member := range value {
			at := pointer + "/" + name
			p.words(section, at, name, member)
			p.collect(section, at, member)
		}
	}
}

// words are a member's names and values from the reference.
func (p places) words(section, pointer, member string, value any) {
	switch value := value.(type) {
	case string:
		if member == "name" {
			p.put(section, value, pointer)
		}
		if member == "description" {
			for _, match := range regexp.MustCompile("`([^`]+)`").FindAllStringSubmatch(value, -1) {
				p.put(section, match[1], pointer)
			}
		}
	case []any:
		if member == "enum" {
			for _, word := range value {
				p.put(section, word.(string), pointer)
			}
		}
	case map[string]any:
		switch {
		case member == "properties" || member == "x-values" || member == "headers":
			for word := range value {
				p.put(section, word, pointer+"/"+word)
			}
		case value["operationId"] != nil:
			template := strings.TrimPrefix(pointer[:strings.LastIndex(pointer, "/")], "/paths/")
			p.put(value["x-reference"].(string), strings.ToUpper(member)+" "+template, pointer)
		}
	}
}
