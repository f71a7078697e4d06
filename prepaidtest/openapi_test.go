package prepaidtest

import (
	"encoding/json"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/internal/tests/tree"
)

type openAPI struct {
	OpenAPI string
	Info    struct{ Version, Description string }
	Paths   map[string]map[string]struct {
		OperationID string
		RequestBody struct {
			Content map[string]struct{ Example json.RawMessage }
		}
		Responses map[string]struct {
			Codes map[string]string `json:"x-error-codes"`
		}
	}
	Components struct {
		Schemas map[string]struct {
			Required   []string
			Properties map[string]struct {
				Format, Pattern     string
				MaxLength, MinItems int
			}
		}
		SecuritySchemes map[string]struct {
			Flows map[string]struct{ TokenURL string }
		}
	}
}

// described returns the document, read as a T, and its text.
func described[T any](t *testing.T, options Options) (d T, text []byte) {
	t.Helper()
	text, err := OpenAPI(options)
	require.NoError(t, err)
	require.NoError(t, json.Unmarshal(text, &d))
	return d, text
}

// The committed document shows reviewers the changes in generated clients.
func TestOpenAPIIsTheCommittedDocument(t *testing.T) {
	t.Parallel()
	_, text := described[any](t, Options{})
	_, again := described[any](t, Options{})
	require.Equal(t, string(text), string(again))
	tree.Committed(t, "api/openapi.json", string(text))
}

func TestOpenAPIHasEveryOperationAndTheSDKsVersion(t *testing.T) {
	t.Parallel()
	d, _ := described[openAPI](t, Options{})
	require.Equal(t, "3.1.0", d.OpenAPI)
	call, err := os.ReadFile("../call.go")
	require.NoError(t, err)
	require.Contains(t, string(call), "\nconst version = \""+d.Info.Version+"\"\n")
	require.Contains(t, d.Info.Description, "The reference stays the contract")
	var names []string
	ids := make(map[string]bool)
	for template, item := range d.Paths {
		for method, operation := range item {
			names = append(names, strings.ToUpper(method)+" "+template)
			ids[operation.OperationID] = true
		}
	}
	require.ElementsMatch(t, Operations(), names)
	require.Len(t, ids, len(names))
}

func TestOpenAPIFollowsTheOptions(t *testing.T) {
	t.Parallel()
	_, usual := described[any](t, Options{})
	for text, option := range map[string]Options{
		`"application/vnd.acme+json"`: {Vendor: "acme"}, `"one"`: {WalletProviders: [3]string{"one", "two", "three"}}, `"hello"`: {PingType: "hello", AlertType: "alarm"},
		`"X-Signed"`: {Signature: &Signature{Header: "X-Signed"}}, `"^([0-9]{4})?$"`: {CategoryWithoutMerchant: new("")},
	} {
		require.NotContains(t, string(usual), text)
		_, changed := described[any](t, option)
		require.Contains(t, string(changed), text)
	}
	for _, option := range []Options{{BadTokenOnReportStart: 400}, {NoCompanySearchPaging: true}, {CompanySearchObject: true}, {EmptyIDForFailedDirectEntry: true}} {
		_, changed := described[any](t, option)
		require.NotEqual(t, string(usual), string(changed))
	}
	_, err := OpenAPI(Options{Vendor: "two words"})
	require.ErrorContains(t, err, "Vendor: must be one word")
}

// Every operation, field, parameter and value in the map of the reference is in the document, in a part that names the same section.
func TestOpenAPIHasEveryRowOfTheReferenceMap(t *testing.T) {
	t.Parallel()
	root, _ := described[any](t, Options{})
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
