package main

import (
	"bytes"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/santhosh-tekuri/jsonschema/v6"
	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/internal/operations"
	"github.com/cardprograms/prepaid/prepaidtest"
)

func usual(t *testing.T) []byte {
	t.Helper()
	text, err := prepaidtest.OpenAPI(prepaidtest.Options{})
	require.NoError(t, err)
	return text
}

// The document is valid for a library with rules on references, path parameters and operation IDs.
func TestTheDocumentIsValidOpenAPI(t *testing.T) {
	t.Parallel()
	loader := openapi3.NewLoader()
	document, err := loader.LoadFromData(usual(t))
	require.NoError(t, err)
	require.NoError(t, document.Validate(loader.Context, openapi3.IsOpenAPI31OrLater()))
	paths := map[string]bool{}
	for _, o := range operations.All() {
		paths[o.Path] = true
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(paths)), document.Paths.Keys())

	broken := strings.Replace(string(usual(t)), `"name": "templatename"`, `"name": "template"`, 1)
	document, err = loader.LoadFromData([]byte(broken))
	require.NoError(t, err)
	require.Error(t, document.Validate(loader.Context, openapi3.IsOpenAPI31OrLater()))
}

// testdata/oas31-schema.json is the specification's own schema, of 2022-10-07.
func TestTheDocumentFitsTheSpecificationsSchema(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile("testdata/oas31-schema.json")
	require.NoError(t, err)
	schema, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	require.NoError(t, err)
	compiler := jsonschema.NewCompiler()
	require.NoError(t, compiler.AddResource("file:///oas.json", schema))
	compiled, err := compiler.Compile("file:///oas.json")
	require.NoError(t, err)
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(usual(t)))
	require.NoError(t, err)
	require.NoError(t, compiled.Validate(document))
	document.(node)["info"].(node)["titel"] = "?"
	require.Error(t, compiled.Validate(document))
}

// Each schema is valid by itself, even if no response uses it.
func TestEverySchemaCompiles(t *testing.T) {
	t.Parallel()
	d, err := parse(usual(t))
	require.NoError(t, err)
	schemas, _ := d.at("/components/schemas")
	require.Greater(t, len(schemas), 60)
	for name := range schemas {
		_, err := d.compiler.Compile(resource + "#/components/schemas/" + name)
		require.NoError(t, err, name)
	}
}

const media = "application/vnd.vendor+json"

func account() entry {
	return entry{
		Operation: "GET /accounts/{id}/status", Params: []string{"EA1"}, Status: 200, Header: http.Header{"Content-Type": {media}, "Date": {"now"}},
		Body: `{"balance":1.50,"card_number":"5000********0001","company_id":42,"external_account_id":"1","plastic_expiry":"2030-01-02T03:04:05Z",` +
			`"product_type":"gift","status":"active","is_plastic_enabled":true}`,
	}
}

func refused(description string) entry {
	return entry{
		Operation: "POST /accounts/{id}/transfer", Params: []string{"EA1"}, Status: 400, Header: http.Header{"Content-Type": {media}},
		Request: `{"amount":1,"source_reference":"a","destination_reference":"b","destination_account_id":"EA2","transaction_type":0}`,
		Body:    `{"error":"invalid_request","error_description":"` + description + `"}`,
	}
}

func TestMistakesAreFound(t *testing.T) {
	t.Parallel()
	d, err := parse(usual(t))
	require.NoError(t, err)
	check := func(e entry, change func(*entry)) []string {
		e.Header = e.Header.Clone()
		change(&e)
		return d.check(e, make(map[string]bool))
	}
	require.Empty(t, check(account(), func(*entry) {}))
	require.Empty(t, check(refused("the source account does not exist"), func(*entry) {}))
	require.Empty(t, check(refused("invalid fields: amount is more than the balance"), func(*entry) {}), "no rule of a form")
	page := entry{
		Operation: "GET /hooks", Query: "page_size=2", Status: 204,
		Header: http.Header{"X-Pagesize": {"2"}, "X-Totalpages": {"0"}, "X-Totalitems": {"0"}},
	}
	require.Empty(t, check(page, func(*entry) {}))

	company := entry{Operation: "GET /accounts/company/{companyid}", Params: []string{"42"}, Query: "status=closed", Status: 204, Header: page.Header}
	require.Empty(t, check(company, func(*entry) {}))

	body := func(from, to string) func(*entry) {
		return func(e *entry) { e.Body = strings.Replace(e.Body, from, to, 1) }
	}
	for says, got := range map[string][]string{
		"the status is not in the document":         check(account(), func(e *entry) { e.Status = 202 }),
		"the body:  additional properties 'x' not":  check(account(), body(`{`, `{"x":1,`)),
		"missing property 'status'":                 check(account(), body(`"status":"active",`, ``)),
		"the body: balance /type":                   check(account(), body(`1.50`, `"1.50"`)),
		"the body: status /enum":                    check(account(), body(`"active"`, `"on"`)),
		"the body: plastic_expiry /format":          check(account(), body(`2030-01-02T`, `2030-01-02 `)),
		"the body is not JSON":                      check(account(), body(`{`, ``)),
		"the media type is not in the document":     check(account(), func(e *entry) { e.Header.Set("Content-Type", "application/json") }),
		"the header X-More is not in the document":  check(account(), func(e *entry) { e.Header.Set("X-More", "1") }),
		"the header X-PageSize is missing":          check(page, func(e *entry) { e.Header.Del("X-PageSize") }),
		"the header X-TotalItems: ":                 check(page, func(e *entry) { e.Header.Set("X-TotalItems", "many") }),
		"there is a body, and none":                 check(page, func(e *entry) { e.Body = "[]" }),
		"an accepted request: x is not a parameter": check(page, func(e *entry) { e.Query = "x=1" }),
		"page_size is given more than once":         check(page, func(e *entry) { e.Query += "&page_size=3" }),
		"status:  /enum":                            check(company, func(e *entry) { e.Query = "status=on" }),
		"page_size:  /pattern":                      check(page, func(e *entry) { e.Query = "page_size=many" }),
		`the code "other" is not in the document`:   check(refused("no"), body(`invalid_request`, `other`)),
		"the document allows a request that was refused: invalid fields: amount must be positive": check(
			refused("invalid fields: amount must be positive"), func(*entry) {}),
	} {
		require.NotEmpty(t, got, says)
		require.Contains(t, got[0], says)
	}
}

// A run that has seen almost none of the document fails.
func TestWhatWasNotSeenIsAFault(t *testing.T) {
	t.Parallel()
	directory := t.TempDir()
	var printed strings.Builder
	require.ErrorContains(t, run(directory, &printed), "no documents")
	require.NoError(t, os.WriteFile(filepath.Join(directory, "a.json"), usual(t), 0o600))
	require.NoError(t, os.WriteFile(filepath.Join(directory, "a.jsonl"), []byte(`{"operation":"DELETE /hooks/{id}","params":["1"],"status":204,"header":{}}`+"\n"), 0o600))
	require.ErrorContains(t, run(directory, &printed), "faults")
	require.Contains(t, printed.String(), "never seen: status /paths/~1accounts~1{id}/get/responses/200 (1)\n")
	require.Contains(t, printed.String(), "never seen: response /components/schemas/Account/properties/balance (1)\n")
	require.Contains(t, printed.String(), "never seen: code /paths/~1hooks/post/responses/400 invalid_uri (1)\n")
	require.NotContains(t, printed.String(), "~1hooks~1{id}/delete/responses/204")
	require.Contains(t, printed.String(), "1 responses, 1 documents")
	require.NoError(t, os.WriteFile(filepath.Join(directory, "a.jsonl"), []byte("{\n"), 0o600))
	require.Error(t, run(directory, &printed))
	require.NoError(t, os.Remove(filepath.Join(directory, "a.jsonl")))
	require.Error(t, run(directory, &printed))
}
