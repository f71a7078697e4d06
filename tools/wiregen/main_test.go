package main

import (
	"bytes"
	"go/types"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/stretchr/testify/require"
)

const source = `package prepaid

import "time"

var (
	_ = []wireReadable{(*Thing)(nil)}
	_ = []wireWritable{Params{}}
)

type ID string
type Count int64
type Amount struct{ digits string }

func (a *Amount) readWire(r *wire.Reader) {}
func (a Amount) writeWire(w *wire.Writer) {}
func (o *Owner) kept()                    {}
func (s *ThingsService) ListPage()        {}

type Thing struct {
	ID     ID             ` + "`json:\"id\" required:\"\"`" + `
	Note   string         ` + "`json:\"note,omitzero\"`" + `
	Count  Count          ` + "`json:\"count\"`" + `
	At     time.Time      ` + "`json:\"at\" required:\"\"`" + `
	Amount Amount         ` + "`json:\"amount\"`" + `
	Sure   *bool          ` + "`json:\"sure\"`" + `
	Owner  *Owner         ` + "`json:\"owner\"`" + `
	Main   Owner          ` + "`json:\"main\"`" + `
	Local  string         ` + "`json:\"-\"`" + `
	kept   string
}

type Owner struct {
	Name string ` + "`json:\"name\"`" + `
}

type Either struct {
	A string   ` + "`json:\"a\" required:\"one\"`" + `
	B []string ` + "`json:\"b\" required:\"other\"`" + `
	C string   ` + "`json:\"c\" required:\"one\"`" + `
}

type Params struct {
	ID     ID     ` + "`json:\"id\"`" + `
	Count  Count  ` + "`json:\"count\"`" + `
	Amount Amount ` + "`json:\"amount\"`" + `
	Owner  Owner  ` + "`json:\"owner\"`" + `
	Note   string ` + "`json:\"note,omitzero\"`" + `
}
`

const things = `
tags: [{name: Things, x-section: '4.1'}]
x-shared: {errors: &errors {'500': {}}}
paths:
  /things/{id}:
    parameters: []
    get:
      tags: [Things]
      x-go: Things.List
      x-safety: read
      x-body: json
      x-also: {'204': body, '500': final}
      x-never: {kind: [big, odd]}
      x-go-params: ListParams
      parameters: [{name: page_number, in: query, x-go: Page}, {name: at_least, in: query, x-go: From}, {name: with_all, in: query, x-go: IncludeAll}]
      responses: {'200': {}, <<: *errors, '204': {}}
components:
  schemas:
    Token: {x-section: '2.1', properties: {token: {}}}
    Thing: {x-section: '2.2, 6', properties: {id: {}, things_kind: {x-go-enum: Kind, x-go: Kind, enum: [big, odd], x-go-values: {odd: Strange}}}}
    Made: {x-section: '4.1', x-go: Thing, properties: {id: {}, size: {x-go: Size, x-go-enum: Size, x-go-values: {'2': Two, '1': One}}}}
`

const lists = `<!-- names of 2.2 -->
- ` + "`Thing`: `id things_kind=Kind size`" + `
- ` + "`Kind`: `big odd=Strange`" + `
- ` + "`Include`: `with_all=All`" + `
<!-- end -->
<!-- names of 4.1 -->
- ` + "`Size`: `1=One 2=Two`" + `
- ` + "`ListParams`: `at_least=From`" + `
<!-- end -->
`

func generateFrom(t *testing.T, source string) error {
	t.Helper()
	directory := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/small\n\ngo 1.26\n", "small.go": source, output: "package prepaid; not Go", // not read
		document: things, overlay: "info: {title: More}",
		"docs/operations.md":                 "# Page\n\n<!-- operations of 4.1 -->\nold\n<!-- end -->\n\nMore.\n",
		"docs/reference-map.md":              "<!-- names of 2.2 -->\n<!-- end -->\n<!-- names of 4.1 -->\nold\n<!-- end -->\n",
		".github/ISSUE_TEMPLATE/problem.yml": "options:\n        # operations\n        # end\n        - another\n",
		"internal/reference/openapi.json":    "stale", "api/openapi.json": "stale",
	} {
		require.NoError(t, os.MkdirAll(filepath.Join(directory, filepath.Dir(name)), 0o755))
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(content), 0o600))
	}
	var out bytes.Buffer
	if err := run(directory, true, nil); err != nil {
		return err
	}
	require.NoError(t, run(directory, false, &out))
	require.Empty(t, out.String())
	code, err := os.ReadFile(filepath.Join(directory, output))
	require.NoError(t, err)
	for _, part := range []string{
		"case \"id\":\n\t\t\tfound |= r.Required(1 << 0)\n\t\t\twire.Text(", "found |= r.Required(1 << 1)\n\t\t\twire.Time(&v.At, r)",
		"if found != 1<<2-1 || v.At.IsZero() {\n\t\tr.Fallback()", "func (v *Owner) readWire(r *wire.Reader) { r.Record(v, v.readMembers, retain) }",
		"found := wire.Found(object, \"id\", \"at\")\n\treturn found&(1<<0) == 0 || found&(1<<1) == 0 || v.At.IsZero()\n",
		"return (found&(1<<0) == 0 || found&(1<<2) == 0) && (found&(1<<1) == 0)\n", "func (v *Owner) lacks(object []byte) bool { return false }",
		"json.UnmarshalFromFunc(decodeRuled[*Either]),\n\t\tjson.UnmarshalFromFunc(decodeRuled[*Owner]),\n",
	} {
		require.Contains(t, string(code), part)
	}
	shown, err := os.ReadFile(filepath.Join(directory, "docs", "reference-map.md"))
	require.NoError(t, err)
	require.Equal(t, lists, string(shown))
	for _, name := range []string{output, "internal/reference/openapi.json"} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte("stale"), 0o600))
	}
	require.Error(t, run(directory, false, &out))
	require.Equal(t, "internal/reference/openapi.json\n"+output+"\n", out.String())
	return nil
}

// A file that differs from the generated one is an error that names the file.
func TestStale(t *testing.T) {
	t.Parallel()
	require.NoError(t, generateFrom(t, source))
}

// The generator refuses unclear fields and reports their names.
func TestRefuses(t *testing.T) {
	t.Parallel()
	const read = "package prepaid\nvar _ = []wireReadable{(*Thing)(nil)}\n"
	field := func(declaration string) string {
		return read + "type Thing struct {\nID " + declaration + "\n}\n"
	}
	const tag = " `json:\"id\"`"
	for source, want := range map[string]string{
		read + "type Thing string\n":                                              "Thing is not a struct",
		read + "type Thing struct{ time.Time }\n":                                 "unknown tag",
		field("string"):                                                           "Thing.ID: unknown tag",
		field("string `json:\"id,string\"`"):                                      "Thing.ID: unknown tag",
		field("string `json:\"id\" required:\"a\"`"):                              "Thing.ID: unknown tag",
		field("string"+tag) + "func (t *Thing) unproven() error { return nil }\n": "Thing: decodeStruct alone calls unproven",
		field("float64" + tag):                                                    "Thing.ID: no rule for reading it",
		field("map[string]string" + tag):                                          "Thing.ID: no rule for reading it",
		field("**string" + tag):                                                   "Thing.ID: no rule for reading it",
		field("[]string" + tag):                                                   "Thing.ID: no rule for reading it",
		field("[2]string" + tag):                                                  "Thing.ID: no rule for reading it",
		field("url.URL" + tag):                                                    "Thing.ID: no rule for reading it",
		field("Word"+tag) + "type Word string\nfunc (w *Word) UnmarshalJSON() {}\n":                                 "Thing.ID: no rule for reading it",
		"package prepaid\nvar _ = []wireWritable{Thing{}}\ntype Thing struct{ ID bool" + tag + " }\n":               "Thing.ID: no rule for writing it",
		"package prepaid\nvar _ = []wireWritable{Thing{}}\ntype Thing struct{ ID string `json:\"id,omitzero\"` }\n": "Thing.ID: no rule for writing it",
		"package prepaid\nfunc": "expected",
	} {
		err := generateFrom(t, source)
		require.ErrorContains(t, err, want, source)
	}
}

// The published document is complete for readers that know OpenAPI alone.
func TestPublish(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	require.NoError(t, os.Mkdir(filepath.Join(directory, "reference"), 0o755))
	for name, text := range map[string]string{
		document: `
info: {description: All.}
paths:
  /things:
    parameters: []
    post:
      x-go: Things.Make
      x-safety: repeated
      x-also: {'404': input}
      x-never: {kind: [big], on: [true]}
      requestBody: {content: {application/vnd.vendor+json: {schema: {$ref: '#/components/schemas/Make'}}}}
      responses: {'404': {$ref: '#/components/responses/Bad', description: Other.}, '500': {$ref: '#/components/responses/Bad'}}
components:
  responses: {Bad: {description: Bad.}}
  schemas: {Make: {properties: {kind: {$ref: '#/components/schemas/Kind'}, on: {type: boolean}}}, Kind: {enum: [big, small]}}`,
		overlay: `
info: {x-emulator: Own.}
x-every: {'400': {description: Bad input.}, '403': {description: No.}, '500': {}}`,
	} {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	}
	_, emulated, err := documents(directory)
	require.NoError(t, err)
	shown, err := json.Marshal(emulated)
	require.NoError(t, err)
	require.Equal(t, strings.Join([]string{
		`{"info":{"description":"All.\n\nOwn."},"paths":{"/things":{"parameters":[],"post":{"x-go":"Things.Make","x-safety":"never",`,
		`"x-also":{"404":"input"},"requestBody":{"content":{"application/vnd.vendor+json":{"schema":{"$ref":"#/components/schemas/Make"}}}},`,
		`"responses":{"404":{"description":"Other."},"500":{"$ref":"#/components/responses/Bad"},"403":{"description":"No."}},`,
		`"operationId":"thingsMake","x-safety-when":[{"member":"kind","values":["small"],"safety":"repeated"},`,
		`{"member":"on","values":[false],"safety":"repeated"}]}}},"components":{"responses":{"Bad":{"description":"Bad."}},`,
		`"schemas":{"Make":{"properties":{"kind":{"$ref":"#/components/schemas/Kind"},"on":{"type":"boolean"}}},"Kind":{"enum":["big","small"]}}}}`,
	}, ""), string(shown))
}

// An unknown form of a line in the table, or of a page, is an error.
func TestRefusesOperations(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	write := func(name, text string) {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(text), 0o600))
	}
	require.NoError(t, os.Mkdir(filepath.Join(directory, "reference"), 0o755))
	write(overlay, "info: {}")
	client := types.NewPackage("", "").Scope()
	for change, want := range map[string]string{
		"x-safety: read=x-safety: reed":      `Things.List has "safety reed"`,
		"x-body: json=x-body: JSON":          `Things.List has "body JSON"`,
		"x-body: json=x-lane: calls":         `Things.List has "body "`,
		"'500': final='404': none":           `Things.List has "404=none"`,
		"x-go: Things.List=x-note: None":     "GET /things/{id} needs one tag and x-go",
		"tags: [Things]=tags: [Things, All]": "GET /things/{id} needs one tag and x-go",
		"{'200'={'2x'":                       "operations_gen.go: ",
		"paths:=paths: {":                    document + ": yaml:",
		"parameters: []=parameters: [{$ref: '#/components/parameters/idd'}]": "nothing has the name #/components/parameters/idd",
		"x-body: json=x-safety: read":                                        document + ": yaml: unmarshal errors:\n  line 11: mapping key \"x-safety\" already defined at line 10",
		"=":                                                                  "no such file",
	} {
		before, after, _ := strings.Cut(change, "=")
		write(document, strings.Replace(things, before, after, 1))
		_, err := operationFiles(directory, client)
		require.ErrorContains(t, err, want, change)
	}
	require.NoError(t, os.Mkdir(filepath.Join(directory, "docs"), 0o755))
	require.NoError(t, os.MkdirAll(filepath.Join(directory, ".github", "ISSUE_TEMPLATE"), 0o755))
	write(document, things)
	write(filepath.Join("docs", "operations.md"), "")
	write(filepath.Join("docs", "reference-map.md"), "")
	write(filepath.Join(".github", "ISSUE_TEMPLATE", "problem.yml"), "")
	_, err := operationFiles(directory, client)
	require.ErrorContains(t, err, "with an end")
	_, err = filled([]byte("<!-- a -->\n<!-- end -->\n<!-- b -->\nold\n<!-- end -->\n"), map[string]string{"<!-- a -->\n": "new\n"})
	require.ErrorContains(t, err, "2 marks, for 1 blocks")
}

// The generated files in the repository are current.
func TestRepositoryIsFresh(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	require.NoError(t, run("../..", false, &out), out.String())
}
