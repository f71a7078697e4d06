package main

import (
	"bytes"
	"fmt"
	"go/format"
	"go/types"
	"maps"
	"reflect"
	"slices"
	"strconv"
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
	g.line(head + "import (\n\"slices\"\n\n\"github.com/go-json-experiment/json\"\n\n\"github.com/cardprograms/prepaid/internal/wire\"\n)")
	for i, function := range []func(*types.Named) error{g.reader, g.writer} {
		g.method, g.todo = []string{"readWire", "writeWire"}[i], p.lists[i]
		for done := 0; done < len(g.todo); done++ { //nolint:intrange // it grows
			if err := function(g.todo[done]); err != nil {
				return nil, err
			}
		}
	}
	p.generateRules(&g.out)
	p.generateKnown(&g.out)
	p.generateValidate(&g.out)
	return format.Source(g.out.Bytes())
}

// generateRules writes the methods of ruled: for structs with a member that has the tag required, or with another rule.
func (p *pkg) generateRules(out *bytes.Buffer) {
	scope := p.Types.Scope()
	var ruled strings.Builder
	for _, name := range scope.Names() {
		declared, _ := scope.Lookup(name).(*types.TypeName)
		if declared == nil || named(declared.Type()) == nil {
			continue
		}
		of := named(declared.Type())
		fields, ok := of.Underlying().(*types.Struct)
		if !ok {
			continue
		}
		names, lacks := requirements(fields)
		if len(names) == 0 && !has(of, "kept", "unproven") {
			continue
		}
		body := "return false"
		if len(names) > 0 {
			body = fmt.Sprintf("\nfound := wire.Found(object, %s)\nreturn %s\n", strings.Join(names, ", "), lacks)
		}
		fmt.Fprintf(out, `
func (v *%[1]s) plain() any { type plain %[1]s; return (*plain)(v) }

func (v *%[1]s) lacks(object []byte) bool { %[2]s }
`, name, body)
		fmt.Fprintf(&ruled, "json.UnmarshalFromFunc(decodeRuled[*%s]),\n", name)
	}
	fmt.Fprintf(out, "\nfunc ruledTypes() *json.Unmarshalers {\nreturn json.JoinUnmarshalers(\n%s)\n}\n", ruled.String())
}

// requirements returns the names of the members with the tag required, and the condition that all values of the tag lack a member.
func requirements(fields *types.Struct) (names []string, lacks string) {
	var values []string
	conditions := map[string][]string{}
	for i := range fields.NumFields() {
		tag := reflect.StructTag(fields.Tag(i))
		value, required := tag.Lookup("required")
		if !required {
			continue
		}
		if conditions[value] == nil {
			values = append(values, value)
		}
		conditions[value] = append(conditions[value], fmt.Sprintf("found&(1<<%d) == 0", len(names)))
		if types.TypeString(fields.Field(i).Type(), nil) == "time.Time" {
			conditions[value] = append(conditions[value], "v."+fields.Field(i).Name()+".IsZero()")
		}
		name, _, _ := strings.Cut(tag.Get("json"), ",")
		names = append(names, strconv.Quote(name))
	}
	for i, value := range values {
		values[i] = strings.Join(conditions[value], " || ")
	}
	if len(values) == 1 {
		return names, values[0]
	}
	return names, "(" + strings.Join(values, ") && (") + ")"
}

// generateKnown writes the values of each enumeration.
func (p *pkg) generateKnown(out *bytes.Buffer) {
	scope := p.Types.Scope()
	constants := map[string][]*types.Const{}
	for _, name := range scope.Names() {
		c, ok := scope.Lookup(name).(*types.Const)
		if ok && c.Exported() && named(c.Type()) != nil && c.Type().Underlying() == types.Typ[types.String] {
			of := named(c.Type()).Obj().Name()
			constants[of] = append(constants[of], c)
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

func (%[1]s %[2]s) known() bool { return slices.Contains(%[1]s.values(), string(%[1]s)) }
`, strings.ToLower(name[:1]), name, strings.Join(values, ", "))
	}
}

// generateValidate writes the method Validate of each type of params with a method check.
func (p *pkg) generateValidate(out *bytes.Buffer) {
	for _, name := range p.Types.Scope().Names() {
		of, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || !strings.HasSuffix(name, "Params") || named(of.Type()) == nil || named(of.Type()).TypeParams() != nil || !has(named(of.Type()), "check") {
			continue
		}
		comment := ""
		if name == "TransferParams" { // for all
			comment = "// Validate returns a *[ValidationError] that lists the faults of p which the call would find before sending, except the age of a\n" +
				"// request ID, or nil. Call it before you store a payment or start a job. [Config].SkipValueChecks does not apply.\n"
		}
		fmt.Fprintf(out, "\n%sfunc (p %s) Validate() error { return validated(p.check) }\n", comment, name)
	}
}

func (g *generator) line(form string, arguments ...any) {
	fmt.Fprintf(&g.out, form+"\n", arguments...)
}

// kind returns the generator's kind of a type: "string", "bool", "int", "time", "self" or "struct"; another one has no rule. It adds
// each struct to todo, so that a function is generated for the struct.
func (g *generator) kind(of types.Type) string {
	kind := types.TypeString(of.Underlying(), nil)
	declared, ok := of.(*types.Named)
	switch {
	case types.TypeString(of, nil) == "time.Time":
		return "time"
	case ok && has(declared, g.method):
		return "self"
	case ok && has(declared, "MarshalJSON", "MarshalJSONTo", "MarshalText", "AppendText", "UnmarshalJSON", "UnmarshalJSONFrom", "UnmarshalText"):
		return "own JSON" // which the fast path does not know
	case kind == "int64":
		return "int"
	case ok && declared.Obj().Pkg() == g.Types && strings.HasPrefix(kind, "struct{"):
		if !slices.Contains(g.todo, declared) {
			g.todo = append(g.todo, declared)
		}
		return "struct"
	}
	return kind
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
	name, method := of.Obj().Name(), "readWire"
	if has(of, "unproven") {
		return fmt.Errorf("%s: decodeStruct alone calls unproven", name)
	}
	if has(of, "kept") {
		method = "readMembers"
		g.line("\nfunc (v *%s) readWire(r *wire.Reader) { r.Record(v, v.%s, retain) }", name, method)
	}
	var body, zero strings.Builder
	required := 0
	for _, m := range members {
		read := g.read(m)
		if read == "" {
			return fmt.Errorf("%s.%s: no rule for reading it", name, m.field)
		}
		fmt.Fprintf(&body, "case %q:\n", m.name)
		if m.required {
			fmt.Fprintf(&body, "found |= r.Required(1 << %d)\n", required)
			required++
			if g.kind(m.of) == "time" {
				fmt.Fprintf(&zero, " || v.%s.IsZero()", m.field)
			}
		}
		body.WriteString(read + "\n")
	}
	g.line("\nfunc (v *%s) %s(r *wire.Reader) {", name, method)
	complete := ""
	if required > 0 {
		g.line("found := uint(0)")
		complete = fmt.Sprintf("if found != 1<<%d-1%s {\nr.Fallback()\n}\n", required, &zero)
	}
	g.line("for name, ok := r.First(); ok; name, ok = r.Next() {\nswitch string(name) {\n%s}\n}\n%s}", &body, complete)
	return nil
}

// read returns the statement that reads a member, or "" if there is no rule.
func (g *generator) read(m member) string {
	helper, of := "", m.of
	if pointer, ok := m.of.(*types.Pointer); ok {
		helper, of = "Optional", pointer.Elem()
	}
	kind, name, to := g.kind(of), g.name(of), "&v."+m.field
	function := map[string]string{"string": "wire.Text", "bool": "wire.Bool", "int": "wire.Integer", "time": "wire.Time",
		"self": "(*" + name + ").readWire", "struct": "(*" + name + ").readWire"}[kind]
	switch {
	case function == "":
		return ""
	case helper == "" && kind == "struct":
		helper = "Struct"
	case helper == "" && kind == "self":
		return "v." + m.field + ".readWire(r)"
	case helper == "" && name != kind && (kind == "string" || kind == "bool"):
		return fmt.Sprintf("%s((*%s)(%s), r)", function, kind, to)
	case helper == "":
		return fmt.Sprintf("%s(%s, r)", function, to)
	}
	return fmt.Sprintf("wire.%s(%s, r, %s)", helper, to, function)
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
		kind := g.kind(m.of)
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
		if write[kind] == "" || m.optional && opening[1] == '{' {
			return fmt.Errorf("%s.%s: no rule for writing it", name, m.field)
		}
		g.line("%s", write[kind])
		opening = ","
	}
	g.line("w.Body = append(w.Body, '}')\n%s}", further)
	return nil
}

func (p *pkg) generateRedaction() ([]byte, error) {
	var out bytes.Buffer
	out.WriteString(head + "import (\n\"fmt\"\n\"log/slog\"\n\n\"github.com/cardprograms/prepaid/internal/redact\"\n)\n")
	for _, name := range p.Types.Scope().Names() {
		of, ok := p.Types.Scope().Lookup(name).(*types.TypeName)
		if !ok || !of.Exported() || named(of.Type()) == nil || has(named(of.Type()), "Format") || !redacts(of.Type(), map[types.Type]bool{}) {
			continue
		}
		fmt.Fprintf(&out, `
func (%[1]s %[2]s) Format(state fmt.State, verb rune) { redact.Format(state, verb, %[1]s) }

func (%[1]s %[2]s) LogValue() slog.Value { return redact.LogValue(%[1]s) }
`, strings.ToLower(name[:1]), name)
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
	case interface{ Elem() types.Type }:
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
