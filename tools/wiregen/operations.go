package main

import (
	"cmp"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/cardprograms/prepaid/internal/reference"
)

type operation struct{ *reference.Operation }

// contract returns the operation as Go code of the client.
func (o operation) contract() (string, error) {
	var made strings.Builder
	fmt.Fprintf(&made, "%s = operation{\nOperation: Operation{%q, %q, %q},\n", o.variable(), o.Name, o.Method, o.Path)
	words := []string{"safety " + o.Safety, "body " + o.Body, "lane " + o.Lane}
	for _, status := range slices.Sorted(maps.Keys(o.Also)) {
		words = append(words, status+"="+o.Also[status])
	}
	for _, word := range words {
		fields, ok := map[string]string{
			"safety token": "class: classToken", "safety read": "class: classRead", "safety repeated": "class: classRepeated",
			"safety keyed": "class: classKeyed", "safety never": "class: classNever", "body json": "kind: responseJSON", "body refusal": "kind: responseJSON, modelsFailure: true", "body none": "kind: responseNone",
			"body text": "kind: responseText", "body data": "kind: responseData", "body any": "kind: responseRaw",
			"lane token": "", "lane money": "lane: ratelimit.Money", "lane call": "lane: ratelimit.Call",
			"204=body": "bodyAfter204: true", "400=token": "tokenOn400: true", "404=input": "inputStatus: true", "500=final": "failedOn500: true",
		}[word]
		if !ok {
			return "", fmt.Errorf("%s: %s has %q", document, o.Name, word)
		}
		if fields != "" {
			made.WriteString(fields + ", ")
		}
	}
	if _, values := o.never(); len(values) > 0 {
		fmt.Fprintf(&made, "never: %#v, ", values)
	}
	return made.String() + "success: []int{" + strings.Join(o.Success(), ", ") + "},\n}\n", nil
}

// never returns the member of the body, and the values with which the safety class is never.
func (o operation) never() (member string, values []string) {
	for name, list := range o.Never {
		for _, value := range list {
			member, values = name, append(values, fmt.Sprint(value))
		}
	}
	return member, values
}

func (o operation) variable() string { return "op" + strings.ReplaceAll(o.Name, ".", "") }

// row returns the operation's row in docs/operations.md. If the client has a method for one page, the row names it too.
func (o operation) row(client *types.Scope) string {
	names := "`client." + o.Name + "`"
	service, method, _ := strings.Cut(o.Name, ".")
	if of := client.Lookup(service + "Service"); of != nil && has(named(of.Type()), method+"Page") {
		names += ", `client." + o.Name + "Page`"
	}
	note := o.Note
	if member, values := o.never(); len(values) > 0 {
		note = "Class never if `" + member + "` is `" + strings.Join(values, "` or `") + "`: " + note
	}
	return strings.ReplaceAll(fmt.Sprintf("| `%s %s` | %s | %s | %s |\n", o.Method, o.Path, names, o.Safety, note), "|  |", "| |")
}

// operationFiles returns the contents of the files that are generated from the documents, by file name.
func operationFiles(directory string, client *types.Scope) (map[string][]byte, error) {
	written, emulated, err := documents(directory)
	if err != nil {
		return nil, err
	}
	compact, err1 := json.Marshal(written)
	more, err2 := json.Marshal(emulated)
	published, err3 := json.Marshal(emulated, jsontext.WithIndent("  "))
	read, err := reference.Parse(compact)
	if err := cmp.Or(err1, err2, err3, err); err != nil {
		return nil, fmt.Errorf("%s: %w", document, err)
	}
	files := map[string][]byte{
		"internal/reference/openapi.json": compact, "internal/reference/emulator.json": more, "api/openapi.json": append(published, '\n'),
	}
	const head = "// Code generated from " + document + " by tools/wiregen. DO NOT EDIT.\n\n"
	var contracts, variables, names strings.Builder
	page := map[string]string{}
	for _, each := range read.Operations {
		o := operation{each}
		contract, err := o.contract()
		if err != nil {
			return nil, err
		}
		contracts.WriteString(contract)
		variables.WriteString("&" + o.variable() + ",\n")
		names.WriteString("        - " + o.Name + "\n")
		mark := "<!-- operations of " + o.Section + " -->\n"
		page[mark] = cmp.Or(page[mark], "| Request | Go | Safety | |\n|---|---|---|---|\n") + o.row(client)
	}
	const name = "operations_gen.go"
	files[name], err = format.Source([]byte(head + "package prepaid\n\nimport \"github.com/cardprograms/prepaid/ratelimit\"\n\nvar (\n" +
		contracts.String() + ")\n\n// allOperations are those of the reference.\nfunc allOperations() []*operation {\nreturn []*operation{\n" +
		variables.String() + "}\n}\n"))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	for name, blocks := range map[string]map[string]string{
		"docs/operations.md": page, "docs/reference-map.md": namesOf(read), ".github/ISSUE_TEMPLATE/problem.yml": {"        # operations\n": names.String()},
	} {
		text, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			return nil, err
		}
		if files[name], err = filled(text, blocks); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	return files, nil
}

// filled returns a page with the blocks between their marks and an end.
func filled(page []byte, blocks map[string]string) ([]byte, error) {
	for mark, block := range blocks {
		between := regexp.MustCompile(`(?s)(` + regexp.QuoteMeta(mark) + `).*?( *(<!--|#) end)`)
		if !between.Match(page) {
			return nil, fmt.Errorf("no %q with an end", mark)
		}
		page = between.ReplaceAll(page, []byte("${1}"+block+"${2}"))
	}
	if ends := regexp.MustCompile(`(<!--|#) end`).FindAll(page, -1); len(ends) != len(blocks) { // an old block would stay
		return nil, fmt.Errorf("%d marks, for %d blocks", len(ends), len(blocks))
	}
	return page, nil
}
