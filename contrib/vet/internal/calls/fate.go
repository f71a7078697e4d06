package calls

import (
	"go/types"
	"slices"

	"golang.org/x/tools/go/ssa"
)

// Fate is a function's use of an error, on any path.
type Fate struct {
	// Returned are the results that contain the error, or an error that wraps it.
	Returned []int
	// Used means that the error reaches a caller, a function, a variable that is read, or a channel. A comparison with
	// nil does not count.
	Used bool
	// Recorded means that the error reaches something other than the caller, a function that wraps it, or a function that
	// asks for its kind.
	Recorded bool
}

// FateOf follows an error. A log counts as a record: the text of the SDK's errors has the operation and the
// outcome.
func FateOf(err ssa.Value) Fate {
	f := fates{in: err.Parent(), seen: map[ssa.Value]bool{}}
	f.follow(err)
	return f.fate
}

type fates struct {
	in   *ssa.Function
	seen map[ssa.Value]bool
	fate Fate
}

func (f *fates) follow(values ...ssa.Value) { eachUse(f.seen, f.use, values...) }

func (f *fates) use(value ssa.Value, ref ssa.Instruction) {
	switch ref := ref.(type) {
	case *ssa.MakeClosure: // followed in variable
	case *ssa.BinOp:
		f.fate.Used = f.fate.Used || !ComparesWithNil(ref)
	case *ssa.Phi, *ssa.ChangeInterface, *ssa.MakeInterface, *ssa.ChangeType, *ssa.Slice, *ssa.Extract, *ssa.UnOp:
		f.follow(ref.(ssa.Value))
	case *ssa.Return:
		f.fate.Used = true
		for i, result := range ref.Results { // the function around a literal returns the values that the literal stores
			if ref.Parent() == f.in && result == value && IsError(result.Type()) && !slices.Contains(f.fate.Returned, i) {
				f.fate.Returned = append(f.fate.Returned, i)
			}
		}
	case *ssa.Store:
		if ref.Val == value {
			f.stored(ref.Addr)
		}
	case ssa.CallInstruction:
		f.passed(value, ref)
	case *ssa.FieldAddr, *ssa.IndexAddr:
		// A part of a variable that has the error. Only reads of the part count.
		f.follow(loads(ref.(ssa.Value))...)
	default:
		f.fate.Used, f.fate.Recorded = true, true
	}
}

// stored follows the values read from the variable that has the error.
func (f *fates) stored(address ssa.Value) {
	switch a := address.(type) {
	case *ssa.FieldAddr:
		f.stored(a.X)
	case *ssa.IndexAddr:
		f.stored(a.X)
	case *ssa.FreeVar:
		f.stored(captured(a))
	case *ssa.Alloc:
		f.follow(a)
		for _, ref := range *a.Referrers() {
			if closure, ok := ref.(*ssa.MakeClosure); ok {
				f.follow(closure.Fn.(*ssa.Function).FreeVars[slices.Index(closure.Bindings, ssa.Value(a))])
			}
		}
	default:
		f.fate.Used, f.fate.Recorded = true, true
	}
}

// passed is for a call that gets the error. If the call returns an error, passed assumes that the result wraps the argument.
func (f *fates) passed(value ssa.Value, call ssa.CallInstruction) {
	f.fate.Used = true
	result := call.Value()
	switch {
	case Judges(Callee(call.Common())), Calls(call.Common(), "errors.Is", "errors.As", "errors.AsType", "errors.Unwrap"): // keeps nothing
	case result != nil && wraps(result.Type()):
		f.follow(result)
	case call.Common().IsInvoke() && call.Common().Value == value: // the method Error returns its text
		f.follow(result)
	default:
		f.fate.Recorded = true
	}
}

// wraps reports whether a result is or contains an error.
func wraps(result types.Type) bool {
	tuple, ok := result.(*types.Tuple)
	if !ok {
		return IsError(result)
	}
	for v := range tuple.Variables() {
		if IsError(v.Type()) {
			return true
		}
	}
	return false
}

// ComparesWithNil reports whether an operation only compares a value with nil.
func ComparesWithNil(op *ssa.BinOp) bool {
	return IsNil(op.X) || IsNil(op.Y)
}

// IsNil reports whether a value is the constant nil.
func IsNil(v ssa.Value) bool {
	c, ok := v.(*ssa.Const)
	return ok && c.IsNil()
}
