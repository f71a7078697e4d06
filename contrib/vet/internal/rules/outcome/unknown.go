package outcome

import (
	"go/constant"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// unknown checks the rest of the program after a call whose outcome is unknown.
type unknown struct {
	*calls.Result
	call *calls.Call
	// failed and succeeded are the instructions on the paths after an unknown outcome and after success.
	failed, succeeded map[ssa.Instruction]bool
}

func after(found *calls.Result, call *calls.Call) {
	if call.Kind == calls.Record || call.Value(call.Err) == nil {
		return
	}
	once := func(instr ssa.Instruction) bool { return instr != call.Instr }
	u := unknown{found, call, found.After(call, true, once), found.After(call, false, once)}
	const wait = "its outcome may be unknown, so the money may have moved; call prepaid.OutcomeOf, and pay some other way only after OutcomeRejected"
	var settled, other, hidden ssa.Instruction
	for instr := range calls.All[ssa.Instruction](call.In) {
		switch {
		case !u.failed[instr]:
		case settled == nil && u.settles(instr):
			settled = instr
		case other == nil && u.paysOtherwise(instr):
			other = instr
		case hidden == nil && u.hides(instr):
			hidden = instr
		}
	}
	switch {
	case other != nil:
		u.Report(u.Pos(other), "this pays in another way after an error of "+call.Name+": "+wait)
	case settled != nil && calls.FateOf(call.Value(call.Err)).Used: // not only compared with nil
		u.Report(u.Pos(settled), "this takes an error of "+call.Name+" for a failure: "+wait)
	case hidden != nil:
		u.Report(u.Pos(hidden), "the outcome of "+call.Name+" is lost: a caller cannot ask an error without %w for it, and takes it for unknown; wrap the error with %w")
	}
	if u.inTransaction() {
		u.Report(u.Pos(u.call.Instr), u.call.Name+" is made in a transaction: if it is rolled back after the money moved, nothing records the payment; commit first, then pay")
	}
}

// failure is a payment's failed state, alone or in SQL.
var failure = regexp.MustCompile(`(?i)^(payment[_ ]|transfer[_ ])?(failed|failure|refused|rejected|declined|cancell?ed|refunded|unpaid|not paid)$|'(failed|refused|rejected|declined|cancell?ed|refunded|unpaid)'`)

// settles reports whether an instruction stores or returns the state of a failed payment, but not after success.
func (u *unknown) settles(instr ssa.Instruction) bool {
	differs := func(v ssa.Value) bool {
		return chosen(v, u.failed, 0) && !(u.succeeded[instr] && chosen(v, u.succeeded, 0))
	}
	switch instr := instr.(type) {
	case *ssa.Call:
		return u.stores(instr) && slices.ContainsFunc(instr.Call.Args, differs)
	case *ssa.Return:
		n := len(instr.Results)
		return n > 1 && calls.IsNil(instr.Results[n-1]) && !u.Asks(u.call.In) && slices.ContainsFunc(instr.Results[:n-1], differs)
	case *ssa.Store:
		field, ok := instr.Addr.(*ssa.FieldAddr)
		return ok && !calls.Is[*ssa.Alloc](field.X) && differs(instr.Val)
	}
	return false
}

// stores reports whether a call can store its arguments: it returns an error, and is of a database or of the program.
func (u *unknown) stores(call *ssa.Call) bool {
	callee := calls.Callee(call.Common())
	if callee == nil || callee.Pkg() == nil || calls.Pure(callee) || u.Find(call) != nil || calls.OwnsPackage(callee.Pkg()) {
		return false
	}
	standard := !strings.Contains(callee.Pkg().Path(), ".") && callee.Pkg() != u.Pass.Pkg && callee.Pkg().Path() != "database/sql"
	return !standard && calls.ReturnsError(call.Call.Signature())
}

// chosen reports whether a value may be a failed state on the given paths.
func chosen(v ssa.Value, on map[ssa.Instruction]bool, depth int) bool {
	if depth > 8 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const:
		return v.Value != nil && v.Value.Kind() == constant.String && failure.MatchString(constant.StringVal(v.Value))
	case *ssa.Phi:
		for i, edge := range v.Edges {
			pred := v.Block().Preds[i]
			if on[pred.Instrs[len(pred.Instrs)-1]] && chosen(edge, on, depth+1) {
				return true
			}
		}
	case *ssa.ChangeType, *ssa.Convert, *ssa.MakeInterface, *ssa.Slice, *ssa.UnOp:
		return chosen(*v.(ssa.Instruction).Operands(nil)[0], on, depth+1)
	case *ssa.Alloc, *ssa.FieldAddr, *ssa.IndexAddr:
		return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
			store, ok := ref.(*ssa.Store)
			part, _ := ref.(ssa.Value)
			_, local := v.(*ssa.Alloc)
			return ok && store.Addr == v && on[store] && chosen(store.Val, on, depth+1) ||
				local && (calls.Is[*ssa.FieldAddr](part) || calls.Is[*ssa.IndexAddr](part)) && chosen(part, on, depth+1)
		})
	}
	return false
}

// paysOtherwise reports whether an instruction pays with another operation, but not after success.
func (u *unknown) paysOtherwise(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok || u.succeeded[instr] || u.call.Kind != calls.Keyed {
		return false
	}
	next := u.Find(call)
	return next != nil && (next.Kind == calls.Unkeyed || next.Kind == calls.Keyed && !next.Wrapper && !u.call.Wrapper && next.Operation() != u.call.Operation())
}

// hides reports whether an instruction returns a new error with the text of the call's error, without wrapping it.
func (u *unknown) hides(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok || !calls.Calls(call.Common(), "fmt.Errorf", "errors.New") || u.Asks(u.call.In) || len(calls.FateOf(call).Returned) == 0 {
		return false
	}
	if format, ok := call.Call.Args[0].(*ssa.Const); ok && strings.Contains(format.Value.ExactString(), "%w") {
		return false
	}
	return slices.ContainsFunc(call.Call.Args, func(arg ssa.Value) bool {
		return slices.ContainsFunc(u.Parts(arg, ""), func(p calls.Part) bool { return p.Value == u.call.Instr.Value() })
	})
}

// inTransaction reports whether the payment is made in a database transaction that has written something.
func (u *unknown) inTransaction() bool {
	isTx := func(v ssa.Value) bool {
		return calls.Named(v.Type(), "database/sql.Tx") || calls.Named(v.Type(), "github.com/jackc/pgx/v5.Tx")
	}
	open, wrote := slices.ContainsFunc(u.call.In.Params, func(p *ssa.Parameter) bool { return isTx(p) }), false
	for call := range calls.All[*ssa.Call](u.call.In) {
		if !calls.Precedes(call, u.call.Instr) {
			continue
		}
		callee := calls.Callee(call.Common())
		opened := calls.Plain(call).Value(0)
		switch values := calls.Operands(call); {
		case callee == nil:
		case slices.ContainsFunc(values, isTx):
			wrote = wrote || strings.HasPrefix(callee.Name(), "Exec")
			open = open && callee.Name() != "Commit"
		case opened != nil && isTx(opened):
			open = true
		}
	}
	return open && wrote
}
