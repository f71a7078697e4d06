package calls

import (
	"fmt"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// Part is one of the sources of a value.
type Part struct {
	// Value is the part in the SSA form.
	Value ssa.Value
	// Text is equal for equal parts.
	Text string
	// New names a source that differs each time: "the time", "a random value", "a request ID"; empty for anything else.
	New string
	// Name is the name of the function that makes the part.
	Name string
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
		if !Named(arg.Type(), "context.Context") && (c.Key.Param == None || arg != c.Arg(c.Key.Param) || c.Key.Field != "") && !(i == 0 && common.Signature().Recv() != nil) {
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
var unpaid = []string{"RequestID", "LastSent", "IdempotencyKey", "SourceReference", "DestinationReference", "InitiatorUsername", "CorrelationID"}

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

// Covers reports whether a call of a wrapper is for the given payment: its arguments include all parameters in payment.
func (r *Result) Covers(c *Call, payment []Part) bool {
	return c.Wrapper && c.Params == None && slices.ContainsFunc(payment, func(p Part) bool { return Is[*ssa.Parameter](p.Value) }) &&
		!slices.ContainsFunc(payment, func(p Part) bool {
			return Is[*ssa.Parameter](p.Value) && !slices.ContainsFunc(c.Instr.Common().Args, func(arg ssa.Value) bool { return slices.Contains(Origins(arg, ""), p.Value) })
		})
}

// Is reports whether a value is of a type of the SSA form.
func Is[T ssa.Value](v ssa.Value) bool {
	_, ok := v.(T)
	return ok
}

// Key are the parts of the request ID of a call.
func (r *Result) Key(c *Call) []Part {
	if value := c.Arg(c.Key.Param); value != nil {
		return r.Parts(value, c.Key.Field)
	}
	return nil
}

// Varies reports whether one of the parts differs in each round of a loop.
func Varies(of []Part, loop map[*ssa.BasicBlock]bool) bool {
	return slices.ContainsFunc(of, func(p Part) bool {
		instr, ok := p.Value.(ssa.Instruction)
		return ok && p.Changes && loop[instr.Block()]
	})
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

type parts struct {
	*Result
	skip  []string
	bound map[*ssa.Parameter]ssa.Value
	seen  map[place]bool
	found []Part
}

func (p *parts) add(v ssa.Value, text string, changes bool) {
	p.found = append(p.found, Part{Value: v, Text: text, Changes: changes})
}

func (p *parts) follow(value ssa.Value, field string) {
	if value == nil || p.seen[place{value, field}] {
		return
	}
	p.seen[place{value, field}] = true
	if strings.Count(field, ".") > 4 { // a linked list, for example
		return
	}
	switch v := value.(type) {
	case *ssa.Const:
		p.add(v, v.String(), false)
	case *ssa.Parameter:
		if arg := p.bound[v]; arg != nil {
			p.follow(arg, field)
		} else {
			p.add(v, v.Name()+"."+field, false)
		}
	case *ssa.FreeVar:
		if outer := captured(v); outer != nil {
			p.follow(outer, field)
		}
	case *ssa.Alloc:
		p.variable(v, field)
	case *ssa.Phi:
		p.add(v, "", slices.ContainsFunc(v.Block().Preds, v.Block().Dominates))
		for _, edge := range v.Edges {
			p.follow(edge, field)
		}
	case *ssa.UnOp:
		if v.Op == token.ARROW {
			p.add(v, p.at(v), true)
		}
		p.follow(v.X, field)
	case *ssa.FieldAddr:
		p.follow(v.X, join(FieldName(v.X.Type(), v.Field), field))
	case *ssa.Field:
		p.follow(v.X, join(FieldName(v.X.Type(), v.Field), field))
	case *ssa.ChangeType, *ssa.Convert, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.TypeAssert, *ssa.Extract:
		p.follow(*v.(ssa.Instruction).Operands(nil)[0], field)
	case *ssa.Call:
		p.call(v, field)
	case *ssa.Next, *ssa.Select:
		p.add(v, p.at(v), true)
	case ssa.Instruction:
		for _, operand := range Operands(v) {
			p.follow(operand, "")
		}
	default:
		p.add(v, v.Name()+"."+field, false)
	}
}

func (p *parts) at(v ssa.Value) string { return fmt.Sprint(v.Parent(), v.Name()) }

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
			for i, binding := range ref.Bindings {
				if fn, ok := ref.Fn.(*ssa.Function); ok && binding == address {
					p.variable(fn.FreeVars[i], field)
				}
			}
		case *ssa.IndexAddr:
			p.variable(ref, "")
		case *ssa.Slice, *ssa.MakeInterface, *ssa.ChangeType:
			p.variable(ref.(ssa.Value), field)
		case *ssa.Call: // fills the variable
			callee := Callee(ref.Common())
			if kind := random(callee); kind != "" {
				p.found = append(p.found, Part{Value: ref, Text: p.at(ref), New: kind, Name: title(callee), Changes: true})
			} else if p.Find(ref) == nil && (callee == nil || !Pure(callee)) {
				p.add(ref, p.at(ref), true)
			}
		}
	}
}

func (p *parts) call(call *ssa.Call, field string) {
	common := call.Common()
	callee := Callee(common)
	if Calls(common, []string{"(time.Time).Format"}) { // the next run is probably in the same month
		if layout, ok := common.Args[1].(*ssa.Const); ok && layout.Value != nil && slices.Contains([]string{`"2006-01"`, `"200601"`, `"2006"`}, layout.Value.ExactString()) {
			return
		}
	}
	made := Part{Value: call, Text: p.at(call), Changes: true}
	switch {
	case Calls(common, p.Model.Fresh):
		made.New, made.Name = "a request ID", title(callee)
	case random(callee) != "":
		made.New, made.Name = random(callee), title(callee)
	case callee != nil && p.maker(common, &made):
	case common.StaticCallee() == nil && Named(call.Type(), p.Model.ID) && common.Signature().Params().Len() == 0:
		made.New, made.Name = "a request ID", "a generator"
	case common.StaticCallee() == nil && Named(call.Type(), "time.Time") && common.Signature().Params().Len() == 0 && (!common.IsInvoke() || common.Method.Name() == "Now"):
		made.New, made.Name = Clock, "a clock"
	}
	if made.New != "" {
		p.found = append(p.found, made)
		return
	}
	if fn := common.StaticCallee(); fn != nil && fn.Blocks != nil && field != "" && Steady(fn) {
		for i, param := range fn.Params {
			p.bound[param] = common.Args[i]
		}
		for ret := range All[*ssa.Return](fn) {
			p.follow(ret.Results[0], field)
		}
		return
	}
	_, builtin := common.Value.(*ssa.Builtin)
	_, given := common.Value.(*ssa.Parameter) // a function that makes params from its arguments
	builtin = builtin || given && len(common.Args) > 0 && p.Model.Params[typeName(call.Type())].Kind != 0
	fn := common.StaticCallee()
	if (fn == nil || fn.Blocks == nil || !Steady(fn)) && !builtin && (callee == nil || !Pure(callee) && !p.converts(callee)) {
		p.add(call, made.Text, true)
		return
	}
	if callee != nil {
		p.add(call, callee.FullName(), false)
	}
	for _, arg := range common.Args {
		p.follow(arg, "")
	}
}

// converts reports whether an SDK function makes a value from its arguments.
func (p *parts) converts(callee *types.Func) bool {
	_, money := p.Model.Money[fullName(callee)]
	params := callee.Signature().Params()
	return !money && p.Model.OwnsPackage(callee.Pkg()) && callee.Signature().Recv() == nil && params.Len() > 0 && !Named(params.At(0).Type(), "context.Context")
}

// maker reports whether a function returns a new ID, or params with a new ID.
func (p *parts) maker(common *ssa.CallCommon, made *Part) bool {
	fn := common.StaticCallee()
	if fn == nil {
		return false
	}
	if fn.Origin() != nil {
		fn = fn.Origin()
	}
	f, ok := p.makers[fn]
	if !ok && fn.Blocks == nil {
		if object := Callee(common); object != nil {
			fact := new(maker)
			ok = p.pass.ImportObjectFact(object, fact)
			f = *fact
		}
	}
	made.New, made.Name = f.New, title(Callee(common))
	return ok
}

// maker is the fact that the first result of a function, or the request ID in this result, differs each time.
type maker struct{ New string }

func (*maker) AFact() {}

// makes finds the functions that make request IDs or texts for IDs.
func (r *Result) makes() {
	r.makers = map[*ssa.Function]maker{}
	for found := true; found; {
		found = false
		for _, fn := range r.Funcs {
			results := fn.Signature.Results()
			if _, known := r.makers[fn]; known || results.Len() == 0 || results.Len() > 2 || fn.Parent() != nil || r.Model.OwnsPackage(r.pass.Pkg) {
				continue
			}
			field := ""
			switch t := results.At(0).Type(); {
			case Named(t, r.Model.ID), types.Identical(t.Underlying(), types.Typ[types.String]):
			case r.Model.Params[typeName(t)].Key.Field != "":
				field = r.Model.Params[typeName(t)].Key.Field
			default:
				continue
			}
			for ret := range All[*ssa.Return](fn) {
				for _, part := range r.Parts(ret.Results[0], field) {
					if part.New == "" || part.New == Clock && types.Identical(results.At(0).Type(), types.Typ[types.String]) && fn.Signature.Params().Len() > 0 {
						continue
					}
					if _, known := r.makers[fn]; !known {
						found = true
						r.makers[fn] = maker{part.New}
						if object, ok := fn.Object().(*types.Func); ok && object.Exported() {
							r.pass.ExportObjectFact(object, &maker{part.New})
						}
					}
				}
			}
		}
	}
}

// Clock is the value of New for a part made from the current time.
const Clock = "the time"

// randomly are packages whose functions, except those in derives, return a new value each time.
var randomly = []string{
	"crypto/rand", "math/rand", "math/rand/v2",
	"github.com/google/uuid", "github.com/gofrs/uuid", "github.com/satori/go.uuid", "github.com/hashicorp/go-uuid",
	"github.com/rs/xid", "github.com/oklog/ulid", "github.com/segmentio/ksuid", "github.com/lithammer/shortuuid",
	"github.com/matoous/go-nanoid", "github.com/jaevor/go-nanoid", "github.com/teris-io/shortid", "github.com/dchest/uniuri",
	"github.com/nrednav/cuid2", "github.com/lucsky/cuid", "github.com/thanhpk/randstr",
}

var creates = regexp.MustCompile(`^(Must)?(New|Make|Gen|Int|Uint|Float|N$|Norm|Exp|Perm|Text|Prime|Read|Rand|Random|Hex|Base62|Bytes|Must|Short|Default)`)

// derives matches the functions of these packages that return equal values for equal arguments, or that convert values.
var derives = regexp.MustCompile(`SHA1|MD5|Hash|V3|V5|Parse|From|^NewSource|^NewZipf|^NewPCG|^NewChaCha8|Scan|^Must$`)

func random(callee *types.Func) string {
	switch {
	case callee == nil || callee.Pkg() == nil:
	case callee.FullName() == "time.Now":
		return Clock
	case slices.Contains(randomly, unversioned(path(callee.Pkg()))) || slices.Contains(randomly, path(callee.Pkg())):
		if creates.MatchString(callee.Name()) && !derives.MatchString(callee.Name()) {
			return "a random value"
		}
	}
	return ""
}

func title(fn *types.Func) string {
	if fn.Signature().Recv() != nil || fn.Pkg() == nil {
		return fn.Name()
	}
	return fn.Pkg().Name() + "." + fn.Name()
}

// plain are packages whose functions return equal values for equal arguments and change no argument.
var plain = []string{
	"bytes", "cmp", "context", "crypto/sha1", "crypto/sha256", "crypto/sha512", "crypto/md5", "encoding/base32", "encoding/base64", "encoding/hex", sdk,
	"errors", "fmt", "log", "log/slog", "maps", "math", "path", "slices", "strconv", "strings", "time", "unicode", "encoding/json", "net/url",
}

// Pure reports whether a function returns equal values for equal arguments and stores no argument.
func Pure(callee *types.Func) bool {
	if params := callee.Signature().Params(); params.Len() > 0 && Named(params.At(0).Type(), "context.Context") && path(callee.Pkg()) == sdk {
		return false
	}
	return callee.Pkg() != nil && (slices.Contains(plain, path(callee.Pkg())) || slices.Contains(randomly, unversioned(path(callee.Pkg())))) &&
		!strings.HasPrefix(callee.Name(), "Fprint") && !strings.Contains(callee.Name(), "Scan") && !strings.Contains(callee.Name(), "Unmarshal") && !strings.Contains(callee.Name(), "Decode")
}

// Steady is Pure for a function with a body.
func Steady(fn *ssa.Function) bool { return steady(fn, 0) }

func steady(fn *ssa.Function, depth int) bool {
	for call := range All[ssa.CallInstruction](fn) {
		callee := Callee(call.Common())
		inner := call.Common().StaticCallee()
		_, builtin := call.Common().Value.(*ssa.Builtin)
		if !builtin && (callee == nil || !Pure(callee)) && (inner == nil || inner.Blocks == nil || depth > 3 || !steady(inner, depth+1)) {
			return false
		}
	}
	return true
}
