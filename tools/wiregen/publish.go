package main

import (
	"fmt"
	"iter"
	"path"
	"slices"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid/internal/reference"
)

// tree is a value of a document without aliases.
type tree struct{ *yaml.Node }

// publish adds derived members to the emulator's document, for generators and readers that know OpenAPI alone.
func (d tree) publish() {
	info := d.at("info")
	info.set("description", text(info.at("description").Value+"\n\n"+info.at("x-emulator").Value))
	info.remove("x-emulator")
	for _, item := range d.at("paths").each() {
		for method, o := range item.each() {
			if method != "parameters" {
				service, name, _ := strings.Cut(o.at("x-go").Value, ".")
				o.set("operationId", text(strings.ToLower(service)+name))
				d.responses(o)
				d.safety(o)
			}
		}
	}
}

// responses adds those of every operation, and replaces references that have further members: OpenAPI ignores these.
func (d tree) responses(o tree) {
	listed := o.at("responses")
	for status, response := range d.at("x-every").each() {
		if listed.at(status).Kind == 0 && (status != "400" || o.at("x-also", "404").Kind == 0) { // bad input may be a 404 instead
			listed.set(status, response)
		}
	}
	for status, response := range listed.each() {
		if ref := response.at("$ref").Value; ref != "" && len(response.Content) > 2 {
			whole := tree{flat(d.at("components", "responses", path.Base(ref)).Node)}
			whole.patch(response)
			whole.remove("$ref")
			listed.set(status, whole)
		}
	}
}

// safety changes a class that depends on the body: it is never except for the listed values, so that a program which does not read
// x-safety-when repeats nothing that is not safe.
func (d tree) safety(o tree) {
	var whens []when
	for member, never := range o.at("x-never").each() {
		schema := d.resolved(o.at("requestBody", "content", reference.MediaJSON, "schema"))
		values := []any{true, false}
		if enum := d.resolved(schema.at("properties", member)).at("enum"); enum.Kind != 0 {
			_ = enum.Decode(&values)
		}
		values = slices.DeleteFunc(values, func(value any) bool {
			return slices.ContainsFunc(never.Content, func(n *yaml.Node) bool { return n.Value == fmt.Sprint(value) })
		})
		whens = append(whens, when{member, values, o.at("x-safety").Value})
	}
	if len(whens) > 0 {
		var list yaml.Node
		_ = list.Encode(whens) // scalars
		o.set("x-safety-when", tree{&list})
		o.set("x-safety", text("never"))
		o.remove("x-never")
	}
}

// when is an element of x-safety-when.
type when struct {
	Member string
	Values []any
	Safety string
}

// resolved returns the target of a reference to a schema.
func (d tree) resolved(schema tree) tree {
	if ref := schema.at("$ref").Value; ref != "" {
		return d.at("components", "schemas", path.Base(ref))
	}
	return schema
}

func text(value string) tree {
	return tree{&yaml.Node{Kind: yaml.ScalarNode, Tag: "!!str", Value: value}}
}

// at returns a member of a member, or an empty node.
func (d tree) at(names ...string) tree {
	for _, name := range names {
		i := d.index(name)
		if i < 0 {
			return tree{new(yaml.Node)}
		}
		d = tree{d.Content[i+1]}
	}
	return d
}

// index returns the place of a member's name, or -1.
func (d tree) index(name string) int {
	for i := 0; i < len(d.Content); i += 2 {
		if d.Content[i].Value == name {
			return i
		}
	}
	return -1
}

func (d tree) set(name string, value tree) {
	if i := d.index(name); i >= 0 {
		d.Content[i+1] = value.Node
		return
	}
	d.Node.Content = append(d.Node.Content, text(name).Node, value.Node)
}

func (d tree) remove(names ...string) {
	for _, name := range names {
		if i := d.index(name); i >= 0 {
			d.Node.Content = slices.Delete(d.Content, i, i+2)
		}
	}
}

// each iterates over the members of a mapping.
func (d tree) each() iter.Seq2[string, tree] {
	return func(yield func(string, tree) bool) {
		for i := 0; i < len(d.Content); i += 2 {
			if !yield(d.Content[i].Value, tree{d.Content[i+1]}) {
				return
			}
		}
	}
}
