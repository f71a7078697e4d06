package prepaidvcr

import (
	"encoding/json"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// fixtureFile is a fixture as in testdata/README.md.
type fixtureFile struct {
	operation string
	Request   struct {
		Method, Path, Text string
		Query              map[string]string
		Body               json.RawMessage
	}
	Response struct {
		Status int
		Text   string
		Body   json.RawMessage
	}
}

func projectFixtures(t *testing.T) []fixtureFile {
	t.Helper()
	files, err := filepath.Glob("../../internal/tests/contract/testdata/*/*.json")
	require.NoError(t, err)
	fixtures := make([]fixtureFile, len(files))
	for i, file := range files {
		content, err := os.ReadFile(file)
		require.NoError(t, err)
		require.NoError(t, json.Unmarshal(content, &fixtures[i]), file)
		fixtures[i].operation = filepath.Base(filepath.Dir(file))
	}
	require.NotEmpty(t, fixtures)
	return fixtures
}

func (f *fixtureFile) address(t *testing.T, change func(string) string) *url.URL {
	t.Helper()
	query := url.Values{}
	for name, value := range f.Request.Query {
		query.Set(name, change(value))
	}
	address, err := url.Parse("https://cards.example.net" + f.Request.Path + "?" + query.Encode())
	require.NoError(t, err)
	return address
}

func same(value string) string { return value }

// planter puts a different canary into every text and number of a JSON value.
type planter struct{ planted int }

var looksLikeNumber = regexp.MustCompile(`^-?[0-9.]+$`)

func (p *planter) text(value string) string {
	p.planted++
	switch {
	case strings.HasPrefix(value, "EA"):
		return fmt.Sprintf("EA41111111%06d", p.planted)
	case isDate(value):
		return fmt.Sprintf("20%02d-01-01T00:00:00.41111111Z Cnry9", p.planted%100)
	case looksLikeNumber.MatchString(value):
		return fmt.Sprintf("41111111%06d", p.planted)
	}
	return fmt.Sprintf("Cnry9 %s %d", value[:min(1, len(value))], p.planted)
}

func (p *planter) plant(value any) any {
	switch v := value.(type) {
	case string:
		return p.text(v)
	case json.Number:
		return json.Number(p.text(v.String()))
	case []any:
		for i := range v {
			v[i] = p.plant(v[i])
		}
	case map[string]any:
		for name := range v {
			v[name] = p.plant(v[name])
		}
	}
	return value
}

func (p *planter) body(t *testing.T, body json.RawMessage, text string) []byte {
	t.Helper()
	if body == nil {
		return []byte(p.text(text))
	}
	var value any
	decoder := json.NewDecoder(strings.NewReader(string(body)))
	decoder.UseNumber()
	require.NoError(t, decoder.Decode(&value))
	planted, err := json.Marshal(p.plant(value))
	require.NoError(t, err)
	return planted
}

// A canary in every member of every request and response of every fixture, also where only a status, a time or an amount
// belongs: none comes through.
func TestCanariesInEveryMember(t *testing.T) {
	t.Parallel()
	known, names, p := newSchema(), newPseudonyms(), &planter{}
	for _, f := range projectFixtures(t) {
		address := f.address(t, p.text)
		request := known.request(names, f.Request.Method, address, p.body(t, f.Request.Body, f.Request.Text))
		body, _ := known.response(&scrubber{names: names}, request.operation, f.Response.Status, p.body(t, f.Response.Body, f.Response.Text))
		for _, text := range []string{request.url, request.body, body} {
			require.NotContains(t, text, "Cnry9", f.operation)
			require.NotContains(t, text, "41111111", f.operation)
		}
	}
	require.Greater(t, p.planted, 1000)
}

// The schema has every member of the project's fixtures, except where the reference shows none: a replay would
// lose other members.
func TestSchemaKnowsEveryMember(t *testing.T) {
	t.Parallel()
	known := newSchema()
	unknown := map[string]bool{}
	operations := map[string]bool{}
	for _, f := range projectFixtures(t) {
		request := known.request(newPseudonyms(), f.Request.Method, f.address(t, same), append(f.Request.Body, f.Request.Text...))
		require.Equal(t, f.operation, request.name())
		operations[f.operation] = true
		_, responded := known.response(&scrubber{names: newPseudonyms()}, request.operation, f.Response.Status, append(f.Response.Body, f.Response.Text...))
		for _, l := range append(request.leaves, responded...) {
			if strings.Contains(l.where, unknownName) {
				unknown[f.operation+" "+regexp.MustCompile(`\[\d+\]`).ReplaceAllString(l.where, "")] = true
			}
		}
	}
	require.Len(t, operations, len(known.operations))
	require.Equal(t, []string{
		"Hooks.Undeliverable body.transaction.(unknown)", "PIN.Validate body.(unknown)",
	}, sortedKeys(unknown))
}
