package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"reflect"
	"strings"
)

func (p *pkg) generateRedaction() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(head + "import (\n\"fmt\"\n\"log/slog\"\n\n\"github.com/cardprograms/prepaid/internal/redact\"\n)\n")
	for _, name := range p.Types.Scope().Names() {
		of, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || !of.Exported() || named(of.Type()) == nil || has(named(of.Type()), "Format") || !redacts(of.Type(), map[types.Type]bool{}) {
			continue
		}
		v := strings.ToLower(name[:1])
		fmt.Fprintf(&out, `
// Format prints the set members, without personal or confidential values.
func (%[1]s %[2]s) Format(state fmt.State, verb rune) { redact.Format(state, verb, %[1]s) }

// LogValue returns the same as a group.
func (%[1]s %[2]s) LogValue() slog.Value { return redact.LogValue(%[1]s) }
`, v, name)
	}
	return format.Source(out.Bytes())
}

// redacts reports whether a type contains a member with a redact tag. seen has the types visited so far.
func redacts(of types.Type, seen map[types.Type]bool) bool {
	if seen[of] {
		return false
	}
	seen[of] = true
	switch t := of.Underlying().(type) {
	case *types.Pointer:
		return redacts(t.Elem(), seen)
	case *types.Slice:
		return redacts(t.Elem(), seen)
	case *types.Struct:
		for i := range t.NumFields() {
			if reflect.StructTag(t.Tag(i)).Get("redact") != "" || redacts(t.Field(i).Type(), seen) {
				return true
			}
		}
	}
	return false
}
