package main

import (
	"bytes"
	"errors"
	"maps"
	"slices"
	"strings"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// node is a part of the document. OpenAPI 3.1 documents are JSON; their schemas are JSON Schema of 2020-12.
type node = map[string]any

const resource = "file:///openapi.json"

// document is an OpenAPI document whose objects have only the listed members.
type document struct {
	root     node
	compiler *jsonschema.Compiler
	schemas  map[string]*jsonschema.Schema // by pointer
}

func parse(text []byte) (*document, error) {
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	root, is := value.(node)
	if !is {
		return nil, errors.New("the document is no object")
	}
	closeObjects(root)
	d := &document{root: root, compiler: jsonschema.NewCompiler(), schemas: make(map[string]*jsonschema.Schema)}
	d.compiler.AssertFormat()
	return d, d.compiler.AddResource(resource, root)
}

// closeObjects forbids members that an object schema does not list.
func closeObjects(value any) {
	switch value := value.(type) {
	case []any:
		for _, element := range value {
			closeObjects(element)
		}
	case node:
		for _, member := range value {
			closeObjects(member)
		}
		if value["type"] == "object" && value["properties"] != nil {
			value["additionalProperties"] = false
		}
	}
}

// at follows references from a pointer, and returns the object at their end and its own pointer; nil if there is no object.
func (d *document) at(pointer string) (node, string) {
	found := d.root
	for _, name := range strings.Split(pointer, "/")[1:] {
		inner, is := found[unescape(name)].(node)
		if !is {
			return nil, pointer
		}
		found = inner
	}
	if to, is := found["$ref"].(string); is {
		return d.at(strings.TrimPrefix(to, "#"))
	}
	return found, pointer
}

func escape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~", "~0"), "/", "~1")
}

func unescape(name string) string {
	return strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")
}

// validate compares a value with the schema at a pointer.
func (d *document) validate(pointer string, value any) error {
	compiled := d.schemas[pointer]
	if compiled == nil {
		var err error
		if compiled, err = d.compiler.Compile(resource + "#" + pointer); err != nil {
			return err
		}
		d.schemas[pointer] = compiled
	}
	return compiled.Validate(value)
}

// mark adds the members of a value to seen, as places in the schema at a pointer.
func (d *document) mark(kind, pointer string, value any, seen map[string]bool) {
	_, pointer = d.at(pointer)
	switch value := value.(type) {
	case node:
		for name, member := range value {
			place := pointer + "/properties/" + escape(name)
			seen[kind+" "+place] = true
			d.mark(kind, place, member, seen)
		}
	case []any:
		for _, element := range value {
			d.mark(kind, pointer+"/items", element, seen)
		}
	}
}

// operations returns the pointers of all operations, sorted.
func (d *document) operations() []string {
	var all []string
	paths, _ := d.at("/paths")
	for template, item := range paths {
		for method := range item.(node) {
			all = append(all, "/paths/"+escape(template)+"/"+method)
		}
	}
	slices.Sort(all)
	return all
}

// places lists the parts of a document that tests must cover: the statuses with their codes, the members of accepted requests and of
// responses, and the query parameters.
func (d *document) places() []string {
	all := make(map[string]bool)
	for _, operation := range d.operations() {
		about, _ := d.at(operation)
		for _, parameter := range list(about["parameters"]) {
			if parameter["in"] == "query" {
				all["parameter "+operation+" "+parameter["name"].(string)] = true
			}
		}
		d.members("request", d.schemaOf(operation+"/requestBody"), all)
		for status := range about["responses"].(node) {
			response, pointer := d.at(operation + "/responses/" + status)
			codes, _ := response["x-error-codes"].(node)
			for code := range codes {
				all["code "+pointer+" "+code] = true
			}
			all["status "+pointer] = true
			d.members("response", d.schemaOf(pointer), all)
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// members adds the members of the schema at a pointer, and of the schemas in it.
func (d *document) members(kind, pointer string, all map[string]bool) {
	schema, pointer := d.at(pointer)
	if schema["items"] != nil {
		d.members(kind, pointer+"/items", all)
	}
	properties, _ := schema["properties"].(node)
	for name := range properties {
		place := pointer + "/properties/" + escape(name)
		all[kind+" "+place] = true
		d.members(kind, place, all)
	}
}

// schemaOf returns the pointer of a body's only schema; without a schema, a pointer to nothing.
func (d *document) schemaOf(pointer string) string {
	about, pointer := d.at(pointer)
	content, _ := about["content"].(node)
	for media := range content {
		return pointer + "/content/" + escape(media) + "/schema"
	}
	return "/none"
}

func list(value any) []node {
	elements, _ := value.([]any)
	all := make([]node, len(elements))
	for i, element := range elements {
		all[i] = element.(node)
	}
	return all
}
