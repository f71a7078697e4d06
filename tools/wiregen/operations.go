package main

import (
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// operation is a line of operations.txt, which explains the columns.
type operation struct {
	method, path, name, success, body, safety, lane, also, section, note string

	member string   // of the body
	never  []string // the values of member with which the class is never
}

func readOperations(directory string) ([]operation, error) {
	text, err := os.ReadFile(filepath.Join(directory, "operations.txt"))
	if err != nil {
		return nil, err
	}
	var all []operation
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		c := strings.Fields(line)
		switch {
		case len(c) > 2 && c[0] == "never" && len(all) > 0:
			last := &all[len(all)-1]
			last.member, last.never = c[1], c[2:]
		case len(c) < 9:
			return nil, fmt.Errorf("operations.txt: too few columns: %q", line)
		default:
			all = append(all, operation{
				method: c[0], path: c[1], name: c[2], success: c[3], body: c[4], safety: c[5], lane: c[6], also: c[7], section: c[8],
				note: strings.Join(c[9:], " "),
			})
		}
	}
	return all, nil
}

// contract returns the operation as Go code of the client.
func (o *operation) contract() (string, error) {
	var made strings.Builder
	made.WriteString(fmt.Sprintf("%s = operation{\nOperation: Operation{%q, %q, %q},\nclass: class%s, ", o.variable(), o.name, o.method, o.path,
		strings.ToUpper(o.safety[:1])+o.safety[1:]))
	for _, word := range append([]string{"body " + o.body, "lane " + o.lane}, strings.Split(o.also, ",")...) {
		fields, ok := map[string]string{
			"body json": "kind: responseJSON", "body refusal": "kind: responseJSON, modelsFailure: true", "body none": "kind: responseNone",
			"body text": "kind: responseText", "body data": "kind: responseData", "body any": "kind: responseRaw",
			"lane token": "", "lane money": "lane: ratelimit.Money", "lane call": "lane: ratelimit.Call",
			"204=body": "bodyAfter204: true", "400=token": "tokenOn400: true", "404=input": "inputStatus: true", "500=final": "failedOn500: true",
			"-": "",
		}[word]
		if !ok {
			return "", fmt.Errorf("operations.txt: %s has %q", o.name, word)
		}
		if fields != "" {
			made.WriteString(fields + ", ")
		}
	}
	if len(o.never) > 0 {
		fmt.Fprintf(&made, "never: %#v, ", o.never)
	}
	return made.String() + "success: []int{" + strings.ReplaceAll(o.success, ",", ", ") + "},\n}\n", nil
}

func (o *operation) variable() string { return "op" + strings.ReplaceAll(o.name, ".", "") }

// row returns the operation's row in docs/operations.md. If the client has a method for one page, the row names it too.
func (o *operation) row(methods map[string]bool) string {
	names := "`client." + o.name + "`"
	if methods[strings.Replace(o.name, ".", "Service.", 1)+"Page"] {
		names += ", `client." + o.name + "Page`"
	}
	note := o.note
	if len(o.never) > 0 {
		note = "Class never if `" + o.member + "` is `" + strings.Join(o.never, "` or `") + "`: " + note
	}
	return strings.ReplaceAll(fmt.Sprintf("| `%s %s` | %s | %s | %s |\n", o.method, o.path, names, o.safety, note), "|  |", "| |")
}

// operationFiles returns the file contents that are generated from operations.txt, by file name.
func operationFiles(directory string, methods map[string]bool) (map[string][]byte, error) {
	all, err := readOperations(directory)
	if err != nil {
		return nil, err
	}
	const head = "// Code generated from operations.txt by tools/wiregen. DO NOT EDIT.\n\n"
	var contracts, variables, table, names strings.Builder
	blocks := map[string]string{} // by section
	for _, o := range all {
		contract, err := o.contract()
		if err != nil {
			return nil, err
		}
		contracts.WriteString(contract)
		variables.WriteString("&" + o.variable() + ",\n")
		fmt.Fprintf(&table, "{%q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q},\n",
			o.method, o.path, o.name, o.success, o.body, o.safety, o.lane, o.also, o.section, o.member, strings.Join(o.never, ","))
		names.WriteString("        - " + o.name + "\n")
		blocks[o.section] += o.row(methods)
	}
	files := map[string][]byte{}
	for name, source := range map[string]string{
		"operations_gen.go": "package prepaid\n\nimport \"github.com/cardprograms/prepaid/ratelimit\"\n\nvar (\n" + contracts.String() + ")\n\n" +
			"// allOperations are those of the reference.\nfunc allOperations() []*operation {\nreturn []*operation{\n" + variables.String() + "}\n}\n",
		"internal/operations/operations_gen.go": "package operations\n\n" +
			"// All returns the operations in the order of the reference.\nfunc All() []Operation {\nreturn []Operation{\n" + table.String() + "}\n}\n",
	} {
		if files[name], err = format.Source([]byte(head + source)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	page := map[string]string{}
	for section, rows := range blocks {
		page["<!-- operations of "+section+" -->\n"] = "| Request | Go | Safety | |\n|---|---|---|---|\n" + rows
	}
	for name, blocks := range map[string]map[string]string{
		"docs/operations.md": page, ".github/ISSUE_TEMPLATE/problem.yml": {"        # operations\n": names.String()},
	} {
		text, err := os.ReadFile(filepath.Join(directory, name))
		if err != nil {
			return nil, err
		}
		for mark, block := range blocks {
			between := regexp.MustCompile(`(?s)(` + regexp.QuoteMeta(mark) + `).*?( *(<!--|#) end)`)
			if !between.Match(text) {
				return nil, fmt.Errorf("%s has no %q with an end", name, mark)
			}
			text = between.ReplaceAll(text, []byte("${1}"+block+"${2}"))
		}
		files[name] = text
	}
	return files, nil
}
