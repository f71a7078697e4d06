package main

import (
	"bytes"
	"errors"
	"fmt"
	"go/ast"
	"go/format"
	"go/types"
	"maps"
	"slices"
	"strings"
)

// generator collects the functions of one direction: reading or writing.
type generator struct {
	*pkg
	method string // readWire or writeWire
	todo   []string
	out    bytes.Buffer
}

func (p *pkg) generate() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString("// Code generated from struct tags by tools/wiregen. DO NOT EDIT.\n\npackage " + p.name +
		"\n\nimport (\n\"slices\"\n\n\"github.com/cardprograms/prepaid/internal/wire\"\n)\n")
	for _, direction := range []struct {
		list, method string
		function     func(*generator, string) error
	}{{"wireReadable", "readWire", (*generator).reader}, {"wireWritable", "writeWire", (*generator).writer}} {
		g := &generator{pkg: p, method: direction.method, todo: p.lists[direction.list]}
		for done := 0; done < len(g.todo); done++ { //nolint:intrange // it grows
			name := g.todo[done]
			if g.self(name) {
				return nil, fmt.Errorf("%s has its own %s", name, g.method)
			}
			if err := direction.function(g, name); err != nil {
				return nil, err
			}
		}
		out.Write(g.out.Bytes())
	}
	p.generateKnown(&out)
	return format.Source(out.Bytes())
}

// generateKnown writes the method Known of each enumeration.
func (p *pkg) generateKnown(out *bytes.Buffer) {
	for _, name := range slices.Sorted(maps.Keys(p.constants)) {
		if typeName(p.types[name]) != "string" || name == "Include" {
			continue // not an enumeration of the reference
		}
		v := strings.ToLower(name[:1])
		fmt.Fprintf(out, `
func (%[2]s) values() []string { return []string{string(%[3]s)} }

// Known reports whether the reference lists the value.
func (%[1]s %[2]s) Known() bool { return slices.Contains(%[1]s.values(), string(%[1]s)) }
`, v, name, strings.Join(p.constants[name], "), string("))
	}
}

func (g *generator) line(form string, arguments ...any) {
	fmt.Fprintf(&g.out, form+"\n", arguments...)
}

// self reports whether a type reads or writes itself.
func (g *generator) self(name string) bool { return g.methods[name+"."+g.method] }

// ownJSON reports whether a type has its own JSON form.
func (g *generator) ownJSON(name string) bool {
	return slices.ContainsFunc([]string{
		"MarshalJSON", "MarshalJSONTo", "MarshalText", "AppendText", "UnmarshalJSON", "UnmarshalJSONFrom", "UnmarshalText",
	}, func(method string) bool { return g.methods[name+"."+method] })
}

// kind returns the generator's kind of a type: "string", "bool", "int", "time", "self" or "struct". It adds each
// struct to todo, so that a function is generated for the struct.
func (g *generator) kind(of ast.Expr) (string, error) {
	unknown := fmt.Errorf("no rule for the type %s", types.ExprString(of))
	if types.ExprString(of) == "time.Time" {
		return "time", nil
	}
	name, ok := of.(*ast.Ident)
	if !ok {
		return "", unknown
	}
	if g.self(name.Name) {
		return "self", nil
	}
	if g.ownJSON(name.Name) {
		return "", fmt.Errorf("%s has its own form in JSON, and no %s", name.Name, g.method)
	}
	switch underlying := g.underlying(name.Name).(type) {
	case *ast.StructType:
		if !slices.Contains(g.todo, name.Name) {
			g.todo = append(g.todo, name.Name)
		}
		return "struct", nil
	case *ast.Ident:
		if underlying.Name == "int64" {
			return "int", nil
		}
		return underlying.Name, nil
	}
	return "", unknown
}

func (g *generator) reader(name string) error {
	members, err := g.members(name)
	if err != nil {
		return err
	}
	g.line("\nfunc (v *%s) readWire(r *wire.Reader) {", name)
	if g.methods[name+".startUnset"] {
		g.line("v.startUnset()")
	}
	g.line("for name, ok := r.First(); ok; name, ok = r.Next() {\nswitch string(name) {")
	for _, m := range members {
		read, err := g.read(m)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, m.field, err)
		}
		g.line("case %q:\n%s", m.name, read)
	}
	g.line("}\n}\n}")
	return nil
}

// read returns the statement that reads a member.
func (g *generator) read(m member) (string, error) {
	to := "v." + m.field
	helper, of := "", m.of
	switch t := m.of.(type) {
	case *ast.StarExpr:
		helper, of = "Optional", t.X
	case *ast.ArrayType:
		if t.Len != nil {
			return "", errors.New("no rule for an array")
		}
		helper, of = "List", t.Elt
	}
	kind, err := g.kind(of)
	if err != nil {
		return "", err
	}
	function := map[string]string{
		"string": "wire.Text", "bool": "wire.Bool", "int": "wire.Integer", "time": "wire.Time",
	}[kind]
	named := types.ExprString(of)
	if function == "" {
		function = "(*" + named + ").readWire"
	}
	switch {
	case helper == "" && kind == "struct":
		helper = "Struct"
	case helper == "" && kind == "self":
		return to + ".readWire(r)", nil
	case helper == "":
		return fmt.Sprintf("%s(%s, r)", function, pointer(to, named, kind)), nil
	case named != kind && (kind == "string" || kind == "bool"):
		return "", fmt.Errorf("no rule for a list of, or a pointer to, %s", named)
	}
	return fmt.Sprintf("wire.%s(&%s, r, %s)", helper, to, function), nil
}

// pointer returns the address of a variable. For a named type of the kind string or bool, it converts the address.
func pointer(to, named, kind string) string {
	if named != kind && (kind == "string" || kind == "bool") {
		return "(*" + kind + ")(&" + to + ")"
	}
	return "&" + to
}

func (g *generator) writer(name string) error {
	members, err := g.members(name)
	if err != nil {
		return err
	}
	g.line("\nfunc (v %s) writeWire(w *wire.Writer) {", name)
	further := ""
	for i, m := range members {
		if m.further {
			further = "w.Members(v." + m.field + ".text())\n"
			continue
		}
		kind, err := g.kind(m.of)
		if err != nil {
			return fmt.Errorf("%s.%s: %w", name, m.field, err)
		}
		opening := "{"
		if i > 0 {
			opening = ","
		}
		opening = fmt.Sprintf("`%s%q:`", opening, m.name)
		write, zero := "", ""
		switch kind {
		case "string":
			write, zero = fmt.Sprintf("w.Text(%s, %s)", opening, converted(m, "string")), `""`
		case "int":
			write, zero = fmt.Sprintf("w.Integer(%s, %s)", opening, converted(m, "int64")), "0"
		case "self", "struct":
			write = fmt.Sprintf("w.Body = append(w.Body, %s...)\nv.%s.writeWire(w)", opening, m.field)
		}
		switch {
		case write == "" || m.optional && (i == 0 || zero == ""):
			return fmt.Errorf("%s.%s: no rule for writing it", name, m.field)
		case m.optional:
			write = fmt.Sprintf("if v.%s != %s {\n%s\n}", m.field, zero, write)
		}
		g.line("%s", write)
	}
	g.line("w.Body = append(w.Body, '}')\n%s}", further)
	return nil
}

func converted(m member, to string) string {
	value := "v." + m.field
	if strings.TrimSpace(types.ExprString(m.of)) == to {
		return value
	}
	return to + "(" + value + ")"
}
