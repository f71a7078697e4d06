package main

import (
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
	info.set("description", text(info.value("description")+"\n\n"+info.value("x-emulator")))
	*info.Node = *mergePatch(info.Node, without("x-emulator"))
	for _, item := range d.at("paths").each() {
		for method, o := range item.each() {
			if method != "parameters" {
				service, name, _ := strings.Cut(o.value("x-go"), ".")
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
		badInput := status == "400" && o.at("x-also", "404").Node != nil // which then is a 404
		if listed.at(status).Node == nil && !badInput {
			listed.set(status, response)
		}
	}
	for status, response := range listed.each() {
		if ref := response.value("$ref"); ref != "" && len(response.Content) > 2 {
			whole := mergePatch(d.at("components", "responses", path.Base(ref)).Node, response.Node)
			listed.set(status, tree{mergePatch(whole, without("$ref"))})
		}
	}
}

// safety changes a class that depends on the body: it is never except for the listed values, so that a program which does not read
// x-safety-when repeats nothing that is not safe.
func (d tree) safety(o tree) {
	whens := &yaml.Node{Kind: yaml.SequenceNode}
	for member, never := range o.at("x-never").each() {
		schema := o.at("requestBody", "content", reference.MediaJSON, "schema")
		schema = d.resolved(d.resolved(schema).at("properties", member))
		values := schema.at("enum")
		if values.Node == nil {
			values = tree{&yaml.Node{Kind: yaml.SequenceNode, Content: []*yaml.Node{scalar("!!bool", "true"), scalar("!!bool", "false")}}}
		}
		values = tree{&yaml.Node{Kind: yaml.SequenceNode, Content: slices.DeleteFunc(slices.Clone(values.Content), func(value *yaml.Node) bool {
			return slices.ContainsFunc(never.Content, func(n *yaml.Node) bool { return n.Value == value.Value })
		})}}
		when := tree{&yaml.Node{Kind: yaml.MappingNode}}
		when.set("member", text(member))
		when.set("values", values)
		when.set("safety", o.at("x-safety"))
		whens.Content = append(whens.Content, when.Node)
	}
	if len(whens.Content) > 0 {
		o.set("x-safety-when", tree{whens})
		o.set("x-safety", text("never"))
		*o.Node = *mergePatch(o.Node, without("x-never"))
	}
}

// resolved returns the target of a reference to a schema.
func (d tree) resolved(schema tree) tree {
	if ref := schema.value("$ref"); ref != "" {
		return d.at("components", "schemas", path.Base(ref))
	}
	return schema
}

func text(value string) tree { return tree{scalar("!!str", value)} }

func scalar(tag, value string) *yaml.Node {
	return &yaml.Node{Kind: yaml.ScalarNode, Tag: tag, Value: value}
}

// at returns a member of a member, or no node.
func (d tree) at(names ...string) tree {
	for _, name := range names {
		i := d.index(name)
		if i < 0 {
			return tree{}
		}
		d = tree{d.Content[i+1]}
	}
	return d
}

// value returns the text of a member, or "".
func (d tree) value(name string) string {
	if member := d.at(name); member.Node != nil {
		return member.Value
	}
	return ""
}

// index returns the place of a member's name, or -1.
func (d tree) index(name string) int {
	for i := 0; d.Node != nil && i < len(d.Content); i += 2 {
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

// each iterates over the members of a mapping.
func (d tree) each() iter.Seq2[string, tree] {
	return func(yield func(string, tree) bool) {
		for i := 0; d.Node != nil && i < len(d.Content); i += 2 {
			if !yield(d.Content[i].Value, tree{d.Content[i+1]}) {
				return
			}
		}
	}
}
