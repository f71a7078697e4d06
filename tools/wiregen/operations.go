package main

import (
	"cmp"
	"fmt"
	"go/format"
	"iter"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"
)

// document is the written reference, which explains its extensions.
const document = "reference/openapi.yaml"

// operation is an operation of the document. Success has its statuses, also those of x-also, both as text.
type operation struct {
	method, path, name, success, body, safety, lane, also, section, note string

	member string   // of the body
	never  []string // the values of member with which the class is never

	query, request, response, required []string // names of members, see operations.Operation
}

func readOperations(directory string) ([]operation, error) {
	text, err := os.ReadFile(filepath.Join(directory, document))
	if err != nil {
		return nil, err
	}
	var written struct {
		Tags []struct {
			Name    string
			Section string `yaml:"x-section"`
		}
		Paths      yaml.Node // in their order
		Components components
	}
	if err := yaml.Unmarshal(text, &written); err != nil {
		return nil, fmt.Errorf("%s: %w", document, err)
	}
	c := written.Components
	sections := map[string]string{}
	for _, tag := range written.Tags {
		sections[tag.Name] = tag.Section
	}
	var all []operation
	for template, item := range members(&written.Paths) {
		for method, node := range members(item) {
			if method == "parameters" {
				continue
			}
			var o struct {
				Tags       []string
				Name       string              `yaml:"x-go"`
				Safety     string              `yaml:"x-safety"`
				Lane       string              `yaml:"x-lane"`
				Body       string              `yaml:"x-body"`
				Note       string              `yaml:"x-note"`
				Also       map[string]string   `yaml:"x-also"`
				Never      map[string][]string `yaml:"x-never"`
				Parameters []parameter
				Request    payload `yaml:"requestBody"`
				Responses  map[string]payload
			}
			if err := node.Decode(&o); err != nil || len(o.Tags) != 1 || o.Name == "" {
				return nil, fmt.Errorf("%s: %s %s: needs one tag and x-go: %w", document, method, template, err)
			}
			made := operation{
				method: strings.ToUpper(method), path: template, name: o.Name, safety: o.Safety, body: o.Body, lane: cmp.Or(o.Lane, "call"),
				also: "-", section: sections[o.Tags[0]], note: o.Note,
			}
			var success, also []string
			for _, status := range slices.Sorted(maps.Keys(o.Responses)) {
				if strings.HasPrefix(status, "2") {
					success = append(success, status)
				}
			}
			for _, status := range slices.Sorted(maps.Keys(o.Also)) {
				if _, ok := o.Responses[status]; !ok {
					return nil, fmt.Errorf("%s: %s has no such status: %s", document, o.Name, status)
				}
				also = append(also, status+"="+o.Also[status])
			}
			switch { // without a body to read, both are equal
			case o.Body == "none" && slices.Equal(success, []string{"200"}):
				success = []string{"200", "204"}
			case o.Body == "none" && slices.Equal(success, []string{"204"}):
				success = []string{"204", "200"}
			}
			made.success, made.also = strings.Join(success, ","), cmp.Or(strings.Join(also, ","), "-")
			for made.member, made.never = range o.Never {
			}
			for _, p := range o.Parameters {
				made.query = append(made.query, cmp.Or(p.Name, c.Parameters[path.Base(p.Ref)].Name))
			}
			made.request, _ = c.members(o.Request.schema(), "", made.query)
			if len(success) > 0 {
				made.response, made.required = c.members(o.Responses[success[0]].schema(), "", made.query)
			}
			all = append(all, made)
		}
	}
	return all, nil
}

// members yields the members of a mapping in their order.
func members(mapping *yaml.Node) iter.Seq2[string, *yaml.Node] {
	return func(yield func(string, *yaml.Node) bool) {
		for i := 1; i < len(mapping.Content); i += 2 {
			if !yield(mapping.Content[i-1].Value, mapping.Content[i]) {
				return
			}
		}
	}
}

type (
	components struct {
		Parameters map[string]parameter
		Schemas    map[string]schema
	}
	parameter struct {
		Name string
		Ref  string `yaml:"$ref"`
	}
	payload struct {
		Content map[string]struct{ Schema schema }
	}
	schema struct {
		Ref        string `yaml:"$ref"`
		Properties map[string]schema
		Items      *schema
		Required   *[]string
		Include    string `yaml:"x-include"`
		Type       any
	}
)

// schema returns the schema of a JSON body, or an empty one.
func (p payload) schema() schema { return p.Content["application/vnd.vendor+json"].Schema }

// members returns the names of all members, inner ones after the object's name and a dot, and of those that their object requires: all
// that are never null if the reference marks none. A member that needs a parameter which the operation does not have is left out.
func (c *components) members(s schema, prefix string, query []string) (all, required []string) {
	for s.Ref != "" || s.Items != nil {
		if s.Items != nil {
			s = *s.Items
			continue
		}
		s = c.Schemas[path.Base(s.Ref)]
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		member := s.Properties[name]
		if member.Include != "" && !slices.Contains(query, member.Include) {
			continue
		}
		all = append(all, prefix+name)
		_, single := member.Type.(string)
		if s.Required == nil && (single || member.Ref != "") || s.Required != nil && slices.Contains(*s.Required, name) {
			required = append(required, prefix+name)
		}
		inner, innerRequired := c.members(member, prefix+name+".", query)
		all, required = append(all, inner...), append(required, innerRequired...)
	}
	return all, required
}

// contract returns the operation as Go code of the client.
func (o *operation) contract() (string, error) {
	var made strings.Builder
	fmt.Fprintf(&made, "%s = operation{\nOperation: Operation{%q, %q, %q},\n", o.variable(), o.name, o.method, o.path)
	for _, word := range append([]string{"safety " + o.safety, "body " + o.body, "lane " + o.lane}, strings.Split(o.also, ",")...) {
		fields, ok := map[string]string{
			"safety token": "class: classToken", "safety read": "class: classRead", "safety repeated": "class: classRepeated",
			"safety keyed": "class: classKeyed", "safety never": "class: classNever", "body json": "kind: responseJSON", "body refusal": "kind: responseJSON, modelsFailure: true", "body none": "kind: responseNone",
			"body text": "kind: responseText", "body data": "kind: responseData", "body any": "kind: responseRaw",
			"lane token": "", "lane money": "lane: ratelimit.Money", "lane call": "lane: ratelimit.Call",
			"204=body": "bodyAfter204: true", "400=token": "tokenOn400: true", "404=input": "inputStatus: true", "500=final": "failedOn500: true",
			"-": "",
		}[word]
		if !ok {
			return "", fmt.Errorf("%s: %s has %q", document, o.name, word)
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

// operationFiles returns the file contents that are generated from the operations, by file name.
func operationFiles(directory string, methods map[string]bool) (map[string][]byte, error) {
	all, err := readOperations(directory)
	if err != nil {
		return nil, err
	}
	const head = "// Code generated from " + document + " by tools/wiregen. DO NOT EDIT.\n\n"
	var contracts, variables, table, names strings.Builder
	blocks := map[string]string{} // by section
	for _, o := range all {
		contract, err := o.contract()
		if err != nil {
			return nil, err
		}
		contracts.WriteString(contract)
		variables.WriteString("&" + o.variable() + ",\n")
		fmt.Fprintf(&table, "{%q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q, %q},\n",
			o.method, o.path, o.name, o.success, o.body, o.safety, o.lane, o.also, o.section, o.member, strings.Join(o.never, ","),
			strings.Join(o.query, " "), strings.Join(o.request, " "), strings.Join(o.response, " "), strings.Join(o.required, " "))
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
