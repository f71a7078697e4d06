package main

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/format"
	"maps"
	"slices"
	"strings"
)

// redactOutput is the file with Format and LogValue of the structs that have redacted members.
const redactOutput = "redact_gen.go"

func (p *pkg) generateRedaction() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("// Code generated from struct tags by tools/wiregen. DO NOT EDIT.\n\npackage " + p.name +
		"\n\nimport (\n\"fmt\"\n\"log/slog\"\n\n\"github.com/cardprograms/prepaid/internal/redact\"\n)\n")
	for _, name := range slices.Sorted(maps.Keys(p.types)) {
		if !ast.IsExported(name) || p.methods[name+".Format"] || !p.redacts(p.types[name], map[string]bool{}) {
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
func (p *pkg) redacts(of ast.Expr, seen map[string]bool) bool {
	switch t := of.(type) {
	case *ast.Ident:
		if seen[t.Name] || p.types[t.Name] == nil {
			return false
		}
		seen[t.Name] = true
		return p.redacts(p.types[t.Name], seen)
	case *ast.StarExpr:
		return p.redacts(t.X, seen)
	case *ast.ArrayType:
		return p.redacts(t.Elt, seen)
	case *ast.StructType:
		return slices.ContainsFunc(t.Fields.List, func(field *ast.Field) bool {
			tag, _ := tagOf(field)
			return tag.Get("redact") != "" || p.redacts(field.Type, seen)
		})
	}
	return false
}
