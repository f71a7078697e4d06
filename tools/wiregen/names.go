package main

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/cardprograms/prepaid/internal/reference"
)

// goNames are the members of each Go type and the values of each enumeration, for docs/reference-map.md. A type of several schemas has the
// members of all, in the section of the first.
type goNames struct {
	types   map[string][]string // types of a section
	members map[string][]string // members of a type
}

// namesOf returns the lists by the marks of their sections. Those of section 4.7 and of the token are written manually: the Go types have another form.
func namesOf(d *reference.Document) map[string]string {
	n := &goNames{types: map[string][]string{}, members: map[string][]string{}}
	for _, s := range d.Schemas {
		section, _, _ := strings.Cut(s.Value.Section, ",")
		n.schema(section, cmp.Or(s.Value.Go, s.Name), s.Value)
	}
	for _, o := range d.Operations {
		for _, p := range o.Query() {
			if include, ok := strings.CutPrefix(p.Go, "Include"); ok {
				n.put("2.2", "Include", p.Name, include)
			} else if o.Go != "" && p.Go != "Page" && p.Go != "Size" { // of Paging
				n.put(o.Section, o.Go, p.Name, p.Go)
			}
		}
	}
	delete(n.types, "2.1")
	delete(n.types, "4.7")
	lists := map[string]string{}
	for section, types := range n.types {
		for _, name := range types {
			lists["<!-- names of "+section+" -->\n"] += "- `" + name + "`: `" + strings.Join(n.members[name], " ") + "`\n"
		}
	}
	return lists
}

func (n *goNames) schema(section, name string, s *reference.Schema) {
	for _, value := range s.Enum {
		n.put(section, name, fmt.Sprint(value), s.GoValues[fmt.Sprint(value)])
	}
	for _, m := range s.Properties {
		n.put(section, name, m.Name, m.Value.Go)
		if m.Value.GoEnum != "" {
			values := m.Value.Enum
			for _, value := range slices.Sorted(maps.Keys(m.Value.GoValues)) {
				values = append(values, value)
			}
			n.schema(section, m.Value.GoEnum, &reference.Schema{Enum: values, GoValues: m.Value.GoValues})
		}
	}
}

// put adds a word to a type. Without a Go name, it follows from the name on the wire.
func (n *goNames) put(section, owner, wire, name string) {
	if name != "" && !strings.EqualFold(name, strings.ReplaceAll(wire, "_", "")) {
		wire += "=" + name
	}
	if n.members[owner] == nil {
		n.types[section] = append(n.types[section], owner)
	}
	if !slices.Contains(n.members[owner], wire) {
		n.members[owner] = append(n.members[owner], wire)
	}
}
