package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"go.yaml.in/yaml/v3"
)

// The written documents: the reference, which explains its extensions, and the emulator's additions to it.
const (
	document = "reference/openapi.yaml"
	overlay  = "reference/emulator.yaml"
)

// documents returns the reference, and the reference with the emulator's additions, as they are published.
func documents(directory string) (written, emulated tree, err error) {
	written, err1 := readYAML(directory, document)
	more, err2 := readYAML(directory, overlay)
	if err := cmp.Or(err1, err2); err != nil {
		return tree{}, tree{}, err
	}
	emulated = tree{flat(written.Node)}
	emulated.patch(more)
	emulated.publish()
	written.remove("x-shared")
	emulated.remove("x-shared", "x-every")
	return written, emulated, nil
}

func readYAML(directory, name string) (tree, error) {
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		return tree{}, err
	}
	var root yaml.Node
	var checked any // a node may have two members of one name, a value may not
	if err := errors.Join(yaml.Unmarshal(text, &root), yaml.Unmarshal(text, &checked)); err != nil || len(root.Content) != 1 {
		return tree{}, fmt.Errorf("%s: %w", name, err)
	}
	return tree{flat(root.Content[0])}, nil
}

// flat returns a copy with aliases and merge keys resolved. The members of a mapping keep their order.
func flat(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return flat(node.Alias)
	}
	made := tree{&yaml.Node{Kind: node.Kind, Tag: node.Tag, Value: node.Value}}
	if node.Kind != yaml.MappingNode {
		for _, element := range node.Content {
			made.Content = append(made.Content, flat(element))
		}
		return made.Node
	}
	for i := 0; i < len(node.Content); i += 2 {
		name, value := node.Content[i], tree{flat(node.Content[i+1])}
		if name.Tag != "!!merge" {
			made.set(name.Value, value)
			continue
		}
		for name, value := range value.each() {
			made.set(name, value)
		}
	}
	return made.Node
}

// patch applies a JSON Merge Patch (RFC 7396): a null removes a member.
func (d tree) patch(changes tree) {
	for name, value := range changes.each() {
		old := d.at(name)
		switch {
		case value.Tag == "!!null":
			d.remove(name)
		case value.Kind == yaml.MappingNode && old.Kind == yaml.MappingNode:
			old.patch(value)
		default:
			d.set(name, value)
		}
	}
}

// MarshalJSONTo implements json.MarshalerTo.
func (d tree) MarshalJSONTo(to *jsontext.Encoder) error {
	begin, end := jsontext.BeginObject, jsontext.EndObject
	switch d.Kind {
	case yaml.ScalarNode:
		if d.Tag == "!!str" || d.Tag == "!!timestamp" {
			return to.WriteToken(jsontext.String(d.Value))
		}
		var value any
		return errors.Join(d.Decode(&value), json.MarshalEncode(to, &value))
	case yaml.SequenceNode:
		begin, end = jsontext.BeginArray, jsontext.EndArray
	}
	err := to.WriteToken(begin)
	for _, child := range d.Content {
		err = errors.Join(err, tree{child}.MarshalJSONTo(to))
	}
	return errors.Join(err, to.WriteToken(end))
}
