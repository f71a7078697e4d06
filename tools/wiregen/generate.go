package main

import (
	"bytes"
	"fmt"
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
	todo   []*types.Named
	out    bytes.Buffer
}

const head = "// Code generated from struct tags by tools/wiregen. DO NOT EDIT.\n\npackage prepaid\n\n"

func (p *pkg) generate() ([]byte, error) {
	g := &generator{pkg: p}
	g.line(head + "import (\n\"slices\"\n\n\"github.com/cardprograms/prepaid/internal/wire\"\n)")
	for i, function := range []func(*types.Named) error{g.reader, g.writer} {
		g.method, g.todo = []string{"readWire", "writeWire"}[i], p.lists[i]
		for done := 0; done < len(g.todo); done++ { //nolint:intrange // it grows
			if err := function(g.todo[done]); err != nil {
				return nil, err
			}
		}
	}
	p.generateKnown(&g.out)
	return format.Source(g.out.Bytes())
}

// generateKnown writes the method Known of each enumeration.
func (p *pkg) generateKnown(out *bytes.Buffer) {
	scope := p.Types.Scope()
	constants := map[string][]*types.Const{}
	for _, name := range scope.Names() {
		if c, ok := scope.Lookup(name).(*types.Const); ok && c.Exported() {
			if of := named(c.Type()); of != nil && of.Obj().Pkg() == p.Types && types.Identical(of.Underlying(), types.Typ[types.String]) {
				constants[of.Obj().Name()] = append(constants[of.Obj().Name()], c)
			}
		}
	}
	delete(constants, "Include") // not an enumeration of the reference
	for _, name := range slices.Sorted(maps.Keys(constants)) {
		slices.SortFunc(constants[name], func(a, b *types.Const) int { return int(a.Pos() - b.Pos()) })
		var values []string
		for _, c := range constants[name] {
			values = append(values, "string("+c.Name()+")")
		}
		fmt.Fprintf(out, `
func (%[2]s) values() []string { return []string{%[3]s} }

// Known reports whether the reference lists the value.
func (%[1]s %[2]s) Known() bool { return slices.Contains(%[1]s.values(), string(%[1]s)) }
`, strings.ToLower(name[:1]), name, strings.Join(values, ", "))
	}
}

func (g *generator) line(form string, arguments ...any) {
	fmt.Fprintf(&g.out, form+"\n", arguments...)
}

// kind returns the generator's kind of a type: "string", "bool", "int", "time", "self" or "struct". It adds each
// struct to todo, so that a function is generated for the struct.
func (g *generator) kind(of types.Type) (string, error) {
	if types.TypeString(of, nil) == "time.Time" {
		return "time", nil
	}
	if declared, ok := of.(*types.Named); ok && declared.Obj().Pkg() == g.Types {
		if has(declared, g.method) {
			return "self", nil
		}
		if _, ok := of.Underlying().(*types.Struct); ok {
			if !slices.Contains(g.todo, declared) {
				g.todo = append(g.todo, declared)
			}
			return "struct", nil
		}
	}
	switch kind := types.TypeString(of.Underlying(), nil); kind {
	case "string", "bool", "int":
		return kind, nil
	case "int64":
		return "int", nil
	}
	return "", fmt.Errorf("no rule for the type %s", g.name(of))
}

// name returns a type as the client writes it.
func (g *generator) name(of types.Type) string {
	return types.TypeString(of, types.RelativeTo(g.Types))
}

func (g *generator) reader(of *types.Named) error {
	members, err := members(of)
	if err != nil {
		return err
	}
	name := of.Obj().Name()
	g.line("\nfunc (v *%s) readWire(r *wire.Reader) {", name)
	if has(of, "startUnset") {
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
	helper, of := "", m.of
	switch t := m.of.(type) {
	case *types.Pointer:
		helper, of = "Optional", t.Elem()
	case *types.Slice:
		helper, of = "List", t.Elem()
	}
	kind, err := g.kind(of)
	if err != nil {
		return "", err
	}
	function := map[string]string{"string": "wire.Text", "bool": "wire.Bool", "int": "wire.Integer", "time": "wire.Time"}[kind]
	name, to := g.name(of), "&v."+m.field
	if function == "" {
		function = "(*" + name + ").readWire"
	}
	switch {
	case helper == "" && kind == "struct":
		helper = "Struct"
	case helper == "" && kind == "self":
		return "v." + m.field + ".readWire(r)", nil
	case helper == "" && name != kind && (kind == "string" || kind == "bool"):
		return fmt.Sprintf("%s((*%s)(%s), r)", function, kind, to), nil
	case helper == "":
		return fmt.Sprintf("%s(%s, r)", function, to), nil
	}
	return fmt.Sprintf("wire.%s(%s, r, %s)", helper, to, function), nil
}

func (g *generator) writer(of *types.Named) error {
	members, err := members(of)
	if err != nil {
		return err
	}
	name := of.Obj().Name()
	g.line("\nfunc (v %s) writeWire(w *wire.Writer) {", name)
	further, opening := "", "{"
	for _, m := range members {
		if m.further {
			further = "w.Members(v." + m.field + ".text())\n"
			continue
		}
		kind, err := g.kind(m.of)
		value, basic := "v."+m.field, map[string]string{"string": "string", "int": "int64"}[kind]
		if g.name(m.of) != basic {
			value = basic + "(" + value + ")"
		}
		opening = fmt.Sprintf("`%s%q:`", opening, m.name)
		write := map[string]string{
			"string": fmt.Sprintf("w.Text(%s, %s)", opening, value),
			"int":    fmt.Sprintf("w.Integer(%s, %s)", opening, value),
			"self":   fmt.Sprintf("w.Body = append(w.Body, %s...)\nv.%s.writeWire(w)", opening, m.field),
		}
		write["struct"] = write["self"]
		if m.optional {
			write = map[string]string{"string": fmt.Sprintf("if v.%s != \"\" {\n%s\n}", m.field, write["string"])}
		}
		if err != nil || write[kind] == "" || m.optional && opening[1] == '{' {
			return fmt.Errorf("%s.%s: no rule for writing it: %w", name, m.field, err)
		}
		g.line("%s", write[kind])
		opening = ","
	}
	g.line("w.Body = append(w.Body, '}')\n%s}", further)
	return nil
}
