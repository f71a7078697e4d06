package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"go.yaml.in/yaml/v3"
)

// The written documents: the reference, which explains its extensions, and the emulator's additions to it.
const (
	document = "reference/openapi.yaml"
	overlay  = "reference/emulator.yaml"
)

// documents returns the reference, and the reference with the emulator's additions, as JSON.
func documents(directory string) (written, emulated []byte, err error) {
	base, err := readYAML(directory, document)
	if err != nil {
		return nil, nil, err
	}
	more, err := readYAML(directory, overlay)
	if err != nil {
		return nil, nil, err
	}
	if written, err = appendJSON(nil, mergePatch(base, without("x-shared"))); err != nil {
		return nil, nil, err
	}
	if emulated, err = appendJSON(nil, mergePatch(base, more)); err != nil {
		return nil, nil, err
	}
	var root yaml.Node // JSON is YAML, and has no aliases
	if err := yaml.Unmarshal(emulated, &root); err != nil {
		return nil, nil, err
	}
	d := tree{root.Content[0]}
	d.publish()
	emulated, err = appendJSON(nil, mergePatch(d.Node, without("x-shared", "x-every")))
	return written, emulated, err
}

// without is the patch that removes members.
func without(names ...string) *yaml.Node {
	patch := &yaml.Node{Kind: yaml.MappingNode}
	for _, name := range names {
		patch.Content = append(patch.Content, scalar("!!str", name), scalar("!!null", ""))
	}
	return patch
}

func readYAML(directory, name string) (*yaml.Node, error) {
	text, err := os.ReadFile(filepath.Join(directory, name))
	if err != nil {
		return nil, err
	}
	var root yaml.Node
	if err := yaml.Unmarshal(text, &root); err != nil || len(root.Content) != 1 {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := noDuplicates(&root); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return root.Content[0], nil
}

// noDuplicates returns an error for a mapping with two members of one name, of which the first would have no effect.
func noDuplicates(node *yaml.Node) error {
	seen := make(map[string]bool)
	for i, child := range node.Content {
		if node.Kind == yaml.MappingNode && i%2 == 0 {
			if seen[child.Value] {
				return fmt.Errorf("line %d: %s is there twice", child.Line, child.Value)
			}
			seen[child.Value] = true
		}
		if err := noDuplicates(child); err != nil {
			return err
		}
	}
	return nil
}

// members returns the members of a mapping in their order, with aliases and merge keys resolved.
func members(mapping *yaml.Node) (keys, values []*yaml.Node) {
	put := func(key, value *yaml.Node) {
		at := slices.IndexFunc(keys, func(other *yaml.Node) bool { return other.Value == key.Value })
		if at < 0 {
			keys, values = append(keys, key), append(values, value)
			return
		}
		values[at] = value
	}
	for i := 0; i < len(mapping.Content); i += 2 {
		key, value := mapping.Content[i], resolved(mapping.Content[i+1])
		if key.Tag != "!!merge" {
			put(key, value)
			continue
		}
		mergedKeys, mergedValues := members(value)
		for j := range mergedKeys {
			put(mergedKeys[j], mergedValues[j])
		}
	}
	return keys, values
}

func resolved(node *yaml.Node) *yaml.Node {
	if node.Kind == yaml.AliasNode {
		return resolved(node.Alias)
	}
	return node
}

// mergePatch applies a JSON Merge Patch (RFC 7396): a null removes a member.
func mergePatch(target, patch *yaml.Node) *yaml.Node {
	target, patch = resolved(target), resolved(patch)
	if target == nil || target.Kind != yaml.MappingNode || patch.Kind != yaml.MappingNode {
		return patch
	}
	merged := &yaml.Node{Kind: yaml.MappingNode, Tag: "!!map"}
	changes, changed := members(patch)
	keys, values := members(target)
	for i, key := range keys {
		at := slices.IndexFunc(changes, func(other *yaml.Node) bool { return other.Value == key.Value })
		switch {
		case at < 0:
			merged.Content = append(merged.Content, key, values[i])
		case changed[at].Tag != "!!null":
			merged.Content = append(merged.Content, key, mergePatch(values[i], changed[at]))
		}
	}
	for i, key := range changes {
		if changed[i].Tag != "!!null" && !slices.ContainsFunc(keys, func(other *yaml.Node) bool { return other.Value == key.Value }) {
			merged.Content = append(merged.Content, key, changed[i])
		}
	}
	return merged
}

// appendJSON appends a node as JSON, with the members in their order.
func appendJSON(to []byte, node *yaml.Node) ([]byte, error) {
	var err error
	switch node = resolved(node); node.Kind {
	case yaml.MappingNode:
		to = append(to, '{')
		keys, values := members(node)
		for i, key := range keys {
			to = append(appendQuoted(comma(to, i), key.Value), ':')
			if to, err = appendJSON(to, values[i]); err != nil {
				return nil, err
			}
		}
		return append(to, '}'), nil
	case yaml.SequenceNode:
		to = append(to, '[')
		for i, element := range node.Content {
			if to, err = appendJSON(comma(to, i), element); err != nil {
				return nil, err
			}
		}
		return append(to, ']'), nil
	}
	if node.Tag == "!!str" || node.Tag == "!!timestamp" {
		return appendQuoted(to, node.Value), nil
	}
	var value any
	if err := node.Decode(&value); err != nil {
		return nil, fmt.Errorf("line %d: %w", node.Line, err)
	}
	text, err := json.Marshal(value)
	return append(to, text...), err
}

func comma(to []byte, i int) []byte {
	if i > 0 {
		return append(to, ',')
	}
	return to
}

func appendQuoted(to []byte, text string) []byte {
	var quoted bytes.Buffer
	encoder := json.NewEncoder(&quoted)
	encoder.SetEscapeHTML(false)
	_ = encoder.Encode(text) // a string always marshals
	return append(to, bytes.TrimSuffix(quoted.Bytes(), []byte("\n"))...)
}
