package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/cardprograms/prepaid"
)

// document is the file, as written by export. The default action is only compared: a file for a program whose rules
// allow must not be applied to one whose rules block.
type document struct {
	Company       int64          `yaml:"company"`
	DefaultAction string         `yaml:"default_action"`
	Categories    []string       `yaml:"categories"`
	Merchants     []merchantNode `yaml:"merchants"`
	Terminals     []terminalNode `yaml:"terminals"`
}

type merchantNode struct {
	AcquirerID     int64  `yaml:"acquirer_id"`
	CardAcceptorID string `yaml:"card_acceptor_id"`
	Description    string `yaml:"description"`
}

type terminalNode struct {
	AcquirerID     int64  `yaml:"acquirer_id"`
	CardAcceptorID string `yaml:"card_acceptor_id"`
	TerminalID     string `yaml:"terminal_id"`
	NameLocation   string `yaml:"card_acceptor_name_location,omitempty"`
	Description    string `yaml:"description,omitempty"`
}

// fileError has all faults of a file, each with its line.
type fileError struct{ faults []string }

func (e *fileError) Error() string { return strings.Join(e.faults, "\n") }

// reader reads the nodes of a file and collects its faults: by line, field and rule, never with the value.
type reader struct {
	name   string
	faults []string
}

// readPolicy reads a wanted policy. Everything that is not expressly allowed is a fault: an unknown key would be a list
// that nobody applies.
func readPolicy(name string, from io.Reader) (prepaid.CompanyID, state, error) {
	r := &reader{name: name}
	decoder := yaml.NewDecoder(from)
	var root, more yaml.Node
	if err := decoder.Decode(&root); err != nil {
		if errors.Is(err, io.EOF) {
			return 0, state{}, &fileError{[]string{name + ": is empty"}}
		}
		return 0, state{}, &fileError{[]string{name + ": " + strings.TrimPrefix(err.Error(), "yaml: ")}}
	}
	if err := decoder.Decode(&more); !errors.Is(err, io.EOF) {
		return 0, state{}, &fileError{[]string{name + ": must be one document"}}
	}
	var company int64
	wanted := state{}
	r.object(root.Content[0], "", []field{
		{"company", true, func(n *yaml.Node, path string) { company = r.number(n, path) }},
		{"default_action", true, func(n *yaml.Node, path string) {
			wanted.action = prepaid.PolicyAction(r.text(n, path))
			if wanted.action != "" && !wanted.action.Known() {
				r.fault(n, path, "must be allow or deny")
			}
		}},
		{"categories", false, func(n *yaml.Node, path string) {
			wanted.categories = list(r, n, path, r.category, categoryKey)
		}},
		{"merchants", false, func(n *yaml.Node, path string) {
			wanted.merchants = list(r, n, path, r.merchant, merchantKey)
		}},
		{"terminals", false, func(n *yaml.Node, path string) {
			wanted.terminals = list(r, n, path, r.terminal, terminalKey)
		}},
	})
	if len(r.faults) > 0 {
		return 0, state{}, &fileError{r.faults}
	}
	return prepaid.CompanyID(company), wanted, nil
}

func (r *reader) fault(n *yaml.Node, path, rule string) {
	r.faults = append(r.faults, strings.Join(strings.Fields(fmt.Sprintf("%s:%d: %s %s", r.name, n.Line, path, rule)), " "))
}

// plain refuses anything that makes a file mean something else than it shows.
func (r *reader) plain(n *yaml.Node, path string) bool {
	if n.Kind == yaml.AliasNode || n.Anchor != "" {
		r.fault(n, path, "must have no anchor and no alias")
		return false
	}
	return true
}

// field is a key that an object may have.
type field struct {
	name     string
	required bool
	read     func(n *yaml.Node, path string)
}

func (r *reader) object(n *yaml.Node, path string, fields []field) {
	if !r.plain(n, path) {
		return
	}
	if n.Kind != yaml.MappingNode {
		r.fault(n, path, "must have keys: "+names(fields))
		return
	}
	seen := make(map[string]int, len(fields))
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		if line, twice := seen[key.Value]; twice {
			r.fault(key, path, "has the key of line "+strconv.Itoa(line)+" a second time")
			continue
		}
		seen[key.Value] = key.Line
		known := false
		for _, f := range fields {
			if known = key.Kind == yaml.ScalarNode && f.name == key.Value; known {
				f.read(value, strings.TrimPrefix(path+"."+f.name, "."))
				break
			}
		}
		if !known {
			r.fault(key, path, "has a key that is none of "+names(fields))
		}
	}
	for _, f := range fields {
		if _, there := seen[f.name]; f.required && !there {
			r.fault(n, strings.TrimPrefix(path+"."+f.name, "."), "is required")
		}
	}
}

func names(fields []field) string {
	var all []string
	for _, f := range fields {
		all = append(all, f.name)
	}
	return strings.Join(all, ", ")
}

// list reads the rules of one list and refuses two with the same key.
func list[K comparable, R any](r *reader, n *yaml.Node, path string, item func(*yaml.Node, string) R, key func(*R) K) map[K]R {
	if !r.plain(n, path) {
		return nil
	}
	if n.Kind != yaml.SequenceNode {
		// "merchants:" with nothing after it may be a list whose lines were removed by mistake.
		r.fault(n, path, "must be a list; write [] for one without rules, omit the key to leave the list unchanged")
		return nil
	}
	rules, lines := make(map[K]R, len(n.Content)), make(map[K]int, len(n.Content))
	for i, node := range n.Content {
		at, before := fmt.Sprintf("%s[%d]", path, i), len(r.faults)
		rule := item(node, at)
		if len(r.faults) > before {
			continue
		}
		k := key(&rule)
		if line, twice := lines[k]; twice {
			r.fault(node, at, "duplicates line "+strconv.Itoa(line))
			continue
		}
		rules[k], lines[k] = rule, node.Line
	}
	return rules
}

func (r *reader) category(n *yaml.Node, path string) prepaid.CategoryRule {
	// The text as written counts, quoted or not: some YAML parsers read 0742 as the number 482.
	text := ""
	if r.plain(n, path) {
		text = n.Value
	}
	code, err := prepaid.ParseMCC(text)
	if n.Kind != yaml.ScalarNode || err != nil || string(code) != text {
		r.fault(n, path, "must be four digits, with leading zeros")
	}
	return prepaid.CategoryRule{MerchantCategoryCode: code}
}

func (r *reader) merchant(n *yaml.Node, path string) (rule prepaid.MerchantRule) {
	r.object(n, path, []field{
		{"acquirer_id", true, func(n *yaml.Node, path string) { rule.AcquirerID = r.number(n, path) }},
		{"card_acceptor_id", true, func(n *yaml.Node, path string) { rule.CardAcceptorID = r.text(n, path) }},
		{"description", true, func(n *yaml.Node, path string) { rule.Description = r.text(n, path) }},
	})
	return rule
}

func (r *reader) terminal(n *yaml.Node, path string) (rule prepaid.TerminalRule) {
	r.object(n, path, []field{
		{"acquirer_id", true, func(n *yaml.Node, path string) { rule.AcquirerID = r.number(n, path) }},
		{"card_acceptor_id", true, func(n *yaml.Node, path string) { rule.CardAcceptorID = r.text(n, path) }},
		{"terminal_id", true, func(n *yaml.Node, path string) { rule.TerminalID = r.text(n, path) }},
		{"card_acceptor_name_location", false, func(n *yaml.Node, path string) { rule.CardAcceptorNameLocation = r.text(n, path) }},
		{"description", false, func(n *yaml.Node, path string) { rule.Description = r.text(n, path) }},
	})
	return rule
}

// text requires quotes around values that YAML does not read as text, so that every reader sees the same text.
func (r *reader) text(n *yaml.Node, path string) string {
	switch {
	case !r.plain(n, path):
	case n.Kind != yaml.ScalarNode || n.ShortTag() == "!!null":
		r.fault(n, path, "must be a text")
	case n.ShortTag() != "!!str":
		r.fault(n, path, "must be in quotes")
	case n.Value == "":
		r.fault(n, path, "must not be empty")
	default:
		return n.Value
	}
	return ""
}

func (r *reader) number(n *yaml.Node, path string) int64 {
	if !r.plain(n, path) {
		return 0
	}
	value, err := strconv.ParseInt(n.Value, 10, 64)
	if n.Kind != yaml.ScalarNode || n.ShortTag() != "!!int" || err != nil || value <= 0 || strconv.FormatInt(value, 10) != n.Value {
		r.fault(n, path, "must be a whole number above zero")
		return 0
	}
	return value
}
