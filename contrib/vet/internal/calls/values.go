package calls

import (
	"fmt"
	"go/token"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Part is one of the sources of a value: a parameter, a constant, the result of a call.
type Part struct {
	Value ssa.Value
	// Field is the field of Value, such as "RequestID" or "Params.RequestID", or empty.
	Field string
	// Text is equal for equal parts.
	Text string
	// New names a source that differs each time: "the time", "a random value", "a request ID"; empty for anything else.
	New string
	// Changes is set if the part may differ in each round of a loop.
	Changes bool
}

// Parts follows a value, or a field of it, back to all its sources, except the fields in skip.
func (r *Result) Parts(value ssa.Value, field string, skip ...string) []Part {
	p := parts{Result: r, skip: skip, bound: map[*ssa.Parameter]ssa.Value{}, seen: map[place]bool{}}
	p.follow(value, field)
	return p.found
}

// Payment are the parts of the payment that a call makes, without the request ID.
func (r *Result) Payment(c *Call) []Part {
	if c.Params != None {
		return r.Parts(c.Arg(c.Params), "", unpaid...)
	}
	var found []Part
	common := c.Instr.Common()
	for i, arg := range common.Args {
		receiver := i == 0 && common.Signature().Recv() != nil
		if key := c.Key.Field == "" && arg == c.Arg(c.Key.Param); !receiver && !key && !Named(arg.Type(), "context.Context") {
			found = append(found, r.Parts(arg, "", unpaid...)...)
		}
	}
	if closure, ok := common.Value.(*ssa.MakeClosure); ok {
		for _, binding := range closure.Bindings {
			found = append(found, r.Parts(binding, "")...)
		}
	}
	return found
}

// unpaid are the fields of params that do not identify the payment: they may differ in each attempt.
var unpaid = []string{"RequestID", "LastSent", "SourceReference", "DestinationReference", "InitiatorUsername", "CorrelationID"}

// Key are the parts of the request ID of a call.
func (r *Result) Key(c *Call) []Part {
	if value := c.Arg(c.Key.Param); value != nil {
		return r.Parts(value, c.Key.Field)
	}
	return nil
}

// Renewed are the instructions that turn the parts into another payment.
func Renewed(of []Part) map[ssa.Instruction]bool {
	found := map[ssa.Instruction]bool{}
	for _, p := range of {
		if instr, ok := p.Value.(ssa.Instruction); ok && p.Changes && p.New == "" {
			found[instr] = true
		}
	}
	return found
}

// Same reports whether two payments have the same parts.
func Same(a, b []Part) bool {
	texts := func(of []Part) (list []string) {
		for _, p := range of {
			list = append(list, p.Text)
		}
		slices.Sort(list)
		return slices.Compact(list)
	}
	return slices.Equal(texts(a), texts(b))
}

type place struct {
	value ssa.Value
	field string
}

type parts struct {
	*Result
	skip  []string
	bound map[*ssa.Parameter]ssa.Value // arguments of the calls that are followed
	seen  map[place]bool
	found []Part
}

func (p *parts) add(v ssa.Value, field, text string, changes bool) {
	p.found = append(p.found, Part{Value: v, Field: field, Text: text, Changes: changes})
}

func (p *parts) follow(value ssa.Value, field string) {
	if value == nil || p.seen[place{value, field}] || strings.Count(field, ".") > 4 { // a linked list, for example
		return
	}
	p.seen[place{value, field}] = true
	switch v := value.(type) {
	case *ssa.Const:
		p.add(v, field, v.String(), false)
	case *ssa.Parameter:
		if arg := p.bound[v]; arg != nil {
			p.follow(arg, field)
		} else {
			p.add(v, field, v.Name()+"."+field, false)
		}
	case *ssa.FreeVar:
		p.follow(captured(v), field)
	case *ssa.Alloc:
		p.variable(v, field)
	case *ssa.Phi:
		basic, _ := v.Type().Underlying().(*types.Basic)
		text := basic != nil && basic.Info()&types.IsString != 0 // a loop does not change a text by itself
		p.add(v, field, "", !text && slices.ContainsFunc(v.Block().Preds, v.Block().Dominates))
		for _, edge := range v.Edges {
			p.follow(edge, field)
		}
	case *ssa.UnOp:
		if v.Op == token.ARROW {
			p.add(v, field, at(v), true)
		}
		p.follow(v.X, field)
	case *ssa.FieldAddr:
		p.follow(v.X, strings.Trim(FieldName(v.X.Type(), v.Field)+"."+field, "."))
	case *ssa.ChangeType, *ssa.Convert, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert, *ssa.Extract:
		p.follow(*v.(ssa.Instruction).Operands(nil)[0], field)
	case *ssa.Call:
		p.call(v, field)
	case *ssa.Next, *ssa.Select:
		p.add(v, field, at(v), true)
	case ssa.Instruction:
		for _, operand := range Operands(v) {
			p.follow(operand, "")
		}
	default:
		p.add(v, field, v.Name()+"."+field, false)
	}
}

func at(v ssa.Value) string { return fmt.Sprint(v.Parent(), v.Name()) }

// variable follows the values stored in a variable or in its given field.
func (p *parts) variable(address ssa.Value, field string) {
	for _, ref := range *address.Referrers() {
		switch ref := ref.(type) {
		case *ssa.Store:
			if ref.Addr == address {
				p.follow(ref.Val, field)
			}
		case *ssa.FieldAddr:
			name := FieldName(ref.X.Type(), ref.Field)
			first, rest, _ := strings.Cut(field, ".")
			if field == "" && !slices.Contains(p.skip, name) || field != "" && first == name {
				p.variable(ref, rest)
			}
		case *ssa.MakeClosure:
			p.variable(ref.Fn.(*ssa.Function).FreeVars[slices.Index(ref.Bindings, address)], field)
		case *ssa.IndexAddr:
			p.variable(ref, "")
		case *ssa.Slice, *ssa.MakeInterface, *ssa.ChangeType:
			p.variable(ref.(ssa.Value), field)
		case *ssa.Call: // fills the variable
			if callee := Callee(ref.Common()); random(callee) != "" {
				p.found = append(p.found, Part{Value: ref, Text: at(ref), New: random(callee), Changes: true})
			} else if p.Find(ref) == nil && (callee == nil || !Pure(callee)) {
				p.add(ref, field, at(ref), true)
			}
		}
	}
}

func (p *parts) call(call *ssa.Call, field string) {
	common := call.Common()
	callee, fn := Callee(common), common.StaticCallee()
	if Calls(common, "(time.Time).Format") { // the next run is probably in the same month
		if layout, ok := common.Args[1].(*ssa.Const); ok && layout.Value != nil && slices.Contains([]string{`"2006-01"`, `"200601"`, `"2006"`}, layout.Value.ExactString()) {
			return
		}
	}
	made := Part{Value: call, Text: at(call), New: p.source(common), Changes: true}
	if made.New != "" {
		p.found = append(p.found, made)
		return
	}
	steady := fn != nil && fn.Blocks != nil && Steady(fn, 0)
	if steady && (field != "" || p.skip != nil && p.builds(common)) {
		for i, param := range fn.Params {
			p.bound[param] = common.Args[i]
		}
		for ret := range All[*ssa.Return](fn) {
			p.follow(ret.Results[0], field)
		}
		return
	}
	if common.IsInvoke() && callee.Name() == "Error" {
		p.follow(common.Value, "")
		return
	}
	_, builtin := common.Value.(*ssa.Builtin)
	if !steady && !builtin && !p.builds(common) && (callee == nil || !Pure(callee) && !p.converts(callee)) {
		p.add(call, field, made.Text, true)
		return
	}
	if callee != nil {
		p.add(call, field, callee.FullName(), false)
	}
	for _, arg := range common.Args {
		if p.skip == nil || !Named(arg.Type(), ID) {
			p.follow(arg, "")
		}
	}
}

// builds reports whether a function makes params or a request ID from its arguments.
func (p *parts) builds(common *ssa.CallCommon) bool {
	results := common.Signature().Results()
	if Callee(common) == nil || results.Len() != 1 || !slices.ContainsFunc(common.Args, func(arg ssa.Value) bool { return !Named(arg.Type(), "context.Context") }) {
		return false
	}
	_, params := paramTypes[typeName(results.At(0).Type())]
	return params || Named(results.At(0).Type(), ID)
}

// source returns the kind of a call that makes a new value each time.
func (p *parts) source(common *ssa.CallCommon) string {
	callee, signature := Callee(common), common.Signature()
	switch {
	case Calls(common, Fresh):
		return NewID
	case random(callee) != "":
		return random(callee)
	case callee != nil:
		return p.maker(callee)
	case common.StaticCallee() == nil && signature.Params().Len() == 0 && signature.Results().Len() == 1 && Named(signature.Results().At(0).Type(), ID):
		return NewID // a generator in a variable or field
	}
	return ""
}

// converts reports whether an SDK function makes a value from its arguments.
func (p *parts) converts(callee *types.Func) bool {
	_, money := moneyCalls[callee.FullName()]
	params := callee.Signature().Params()
	return !money && OwnsPackage(callee.Pkg()) && callee.Signature().Recv() == nil && params.Len() > 0 && !Named(params.At(0).Type(), "context.Context")
}

// Handed reports whether a value, or one made from it, other than id, is stored outside the function or reaches code that can
// store it, and whether it is returned. It leaves out the call but.
func (r *Result) Handed(v, id ssa.Value, but ssa.Instruction) (uses []ssa.Instruction, returned bool) {
	h := handed{Result: r, but: but, seen: map[ssa.Value]bool{id: true}}
	h.follow(v)
	return h.uses, h.returned
}

type handed struct {
	*Result
	but      ssa.Instruction
	seen     map[ssa.Value]bool
	uses     []ssa.Instruction
	returned bool
}

func (h *handed) follow(values ...ssa.Value) { eachUse(h.seen, h.use, values...) }

func (h *handed) use(v ssa.Value, ref ssa.Instruction) {
	switch ref := ref.(type) {
	case *ssa.Store:
		if ref.Val == v {
			h.stored(ref, ref.Addr)
		}
	case *ssa.MapUpdate, *ssa.Send:
		h.uses = append(h.uses, ref)
	case *ssa.Return:
		h.returned = true
	case ssa.CallInstruction:
		h.call(ref)
	case *ssa.FieldAddr:
		if Named(ref.Type().(*types.Pointer).Elem(), ID) { // no other field
			h.follow(loads(ref)...)
		}
	case ssa.Value:
		h.follow(ref)
	}
}

func (h *handed) stored(store *ssa.Store, address ssa.Value) {
	switch a := address.(type) {
	case *ssa.FieldAddr:
		if Is[*ssa.Alloc](a.X) {
			for _, ref := range *a.X.Referrers() { // the field is read
				if other, ok := ref.(*ssa.FieldAddr); ok && other.Field == a.Field {
					h.follow(loads(other)...)
				}
			}
		}
		h.stored(store, a.X)
	case *ssa.IndexAddr:
		h.stored(store, a.X)
	case *ssa.Alloc:
		h.follow(a)
	default: // not a local variable
		h.uses = append(h.uses, store)
	}
}

func (h *handed) call(call ssa.CallInstruction) {
	common := call.Common()
	fn, callee := common.StaticCallee(), Callee(common)
	money := h.Find(call)
	switch {
	case call == h.but, money != nil && money.Kind != Record, Logs(common):
	case callee != nil && Pure(callee), fn != nil && fn.Blocks != nil && Steady(fn, 0):
		if value := call.Value(); value != nil {
			h.follow(value)
		}
	case callee != nil && callee.Pkg() != nil && slices.Contains([]string{"net/http", "fmt"}, callee.Pkg().Path()): // the response
	default:
		h.uses = append(h.uses, call)
	}
}

// Is reports whether a value is of a type of the SSA form.
func Is[T ssa.Value](v ssa.Value) bool {
	_, ok := v.(T)
	return ok
}

// captured returns the enclosing function's value of a captured variable.
func captured(v *ssa.FreeVar) ssa.Value {
	fn := v.Parent()
	if fn.Parent() == nil {
		return nil
	}
	for closure := range All[*ssa.MakeClosure](fn.Parent()) {
		if closure.Fn == fn {
			return closure.Bindings[slices.Index(fn.FreeVars, v)]
		}
	}
	return nil
}

// FieldName is the name of a field of a struct, or of the struct that a pointer points to.
func FieldName(t types.Type, index int) string {
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	if s, ok := t.Underlying().(*types.Struct); ok {
		return s.Field(index).Name()
	}
	return ""
}
