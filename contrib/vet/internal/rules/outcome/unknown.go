package outcome

import (
	"go/constant"
	"go/token"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// unknown checks the rest of the program after a call whose outcome is unknown.
type unknown struct {
	*calls.Result
	pass *analysis.Pass
	call *calls.Call
	// failed and succeeded are the instructions on the paths after an unknown outcome and after success.
	failed, succeeded map[ssa.Instruction]bool
}

func after(pass *analysis.Pass, found *calls.Result, call *calls.Call) {
	if call.Kind == calls.Record || call.Value(call.Err) == nil {
		return
	}
	once := func(instr ssa.Instruction) bool { return instr != call.Instr }
	u := unknown{found, pass, call, found.After(call, true, once), found.After(call, false, once)}
	const wait = "its outcome may be unknown, so the money may have moved; ask prepaid.OutcomeOf, and only after OutcomeRejected go another way"
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
	if settled == nil {
		settled = u.deferred()
	}
	switch {
	case other != nil:
		u.report(other, "this pays in another way after an error of "+call.Name+": "+wait)
	case settled != nil && calls.FateOf(call.Value(call.Err)).Used: // not only compared with nil
		u.report(settled, "this takes an error of "+call.Name+" for a failure: "+wait)
	case hidden != nil:
		u.report(hidden, "the outcome of "+call.Name+" is lost: a caller cannot ask an error without %w for it, and takes it for unknown; wrap the error with %w")
	}
	u.lastSent()
	u.transaction()
}

func (u *unknown) report(at ssa.Instruction, message string) {
	pos := at.Pos()
	if call, ok := at.(ssa.CallInstruction); ok {
		pos = u.Pos(call)
	}
	if !pos.IsValid() {
		pos = u.call.Pos()
	}
	u.Reportf(u.pass, pos, message)
}

var (
	// undone are the names of functions that treat a payment as not made.
	undone = regexp.MustCompile(`(?i)(fail|refund|reject|compensat|cancel|declin|credit|reopen|restock|unreserve|revert|undo)`)
	// failure is a payment's failed state, alone or in SQL.
	failure = regexp.MustCompile(`(?i)^(payment[_ ]|transfer[_ ])?(failed|failure|refused|rejected|declined|cancell?ed|refunded|unpaid|not paid)$|'(failed|refused|rejected|declined|cancell?ed|refunded|unpaid)'`)
	state   = regexp.MustCompile(`(?i)stat(e|us)|result|outcome`)
)

// settles reports whether an instruction records that the payment failed, or acts on it.
func (u *unknown) settles(instr ssa.Instruction) bool {
	switch instr := instr.(type) {
	case *ssa.Call:
		callee := calls.Callee(instr.Common())
		if callee == nil || calls.Logs(callee) || calls.Pure(callee) || u.Find(instr) != nil || u.Judges(callee) || u.Model.OwnsPackage(callee.Pkg()) || !strings.Contains(pathOf(callee), ".") && pathOf(callee) != "database/sql" && u.pass.Pkg != callee.Pkg() {
			return false
		}
		if u.undoes(instr) && !u.succeeded[instr] {
			return true
		}
		return calls.Writes(instr.Common()) && slices.ContainsFunc(instr.Call.Args, func(arg ssa.Value) bool { return u.differs(arg, instr) })
	case *ssa.Return:
		if n := len(instr.Results); n > 1 && calls.IsNil(instr.Results[n-1]) && !u.Asks(u.call.In) {
			return slices.ContainsFunc(instr.Results[:n-1], func(v ssa.Value) bool { return u.differs(v, instr) })
		}
	case *ssa.Store:
		field, ok := instr.Addr.(*ssa.FieldAddr)
		if !ok || !state.MatchString(calls.FieldName(field.X.Type(), field.Field)) || calls.Is[*ssa.Alloc](field.X) {
			return false
		}
		return u.differs(instr.Val, instr)
	}
	return false
}

// undoes reports whether a call, by its name, treats a payment as not made.
func (u *unknown) undoes(call *ssa.Call) bool {
	callee := calls.Callee(call.Common())
	if callee == nil || !undone.MatchString(callee.Name()) || len(call.Call.Args) < 2 {
		return false
	}
	fn := call.Call.StaticCallee()
	return fn == nil || fn.Blocks == nil || calls.Makes(fn, calls.Writes) && !u.Asks(fn)
}

// deferred finds the instruction in a deferred function that, after an error, records or treats the payment as failed.
func (u *unknown) deferred() ssa.Instruction {
	for _, ref := range *u.call.Value(u.call.Err).Referrers() {
		store, ok := ref.(*ssa.Store)
		if !ok || !calls.Is[*ssa.Alloc](store.Addr) {
			continue
		}
		for _, ref := range *store.Addr.Referrers() {
			closure, ok := ref.(*ssa.MakeClosure)
			if !ok || !slices.ContainsFunc(*closure.Referrers(), func(ref ssa.Instruction) bool { _, ok := ref.(*ssa.Defer); return ok }) {
				continue
			}
			fn := closure.Fn.(*ssa.Function)
			for _, block := range fn.Blocks {
				condition, ok := block.Instrs[len(block.Instrs)-1].(*ssa.If)
				if !ok || u.Asks(fn) {
					continue
				}
				compares, ok := condition.Cond.(*ssa.BinOp)
				if !ok || compares.Op != token.NEQ || !calls.ComparesWithNil(compares) {
					continue
				}
				load, ok := compares.X.(*ssa.UnOp)
				if i := slices.Index(closure.Bindings, store.Addr); !ok || load.X != ssa.Value(fn.FreeVars[i]) {
					continue
				}
				for call := range calls.All[*ssa.Call](fn) {
					if block.Succs[0].Dominates(call.Block()) && u.undoes(call) {
						return call
					}
				}
			}
		}
	}
	return nil
}

func pathOf(object types.Object) string {
	if object == nil || object.Pkg() == nil {
		return ""
	}
	return object.Pkg().Path()
}

// differs reports whether an instruction uses a value that is a failure after an unknown outcome, but not after success.
func (u *unknown) differs(v ssa.Value, at ssa.Instruction) bool {
	return chosen(v, u.failed, failure, 0) && !(u.succeeded[at] && chosen(v, u.succeeded, failure, 0))
}

// chosen reports whether a value may match the pattern text on the given paths.
func chosen(v ssa.Value, on map[ssa.Instruction]bool, text *regexp.Regexp, depth int) bool {
	if depth > 8 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Const:
		return v.Value != nil && v.Value.Kind() == constant.String && text.MatchString(constant.StringVal(v.Value))
	case *ssa.Phi:
		for i, edge := range v.Edges {
			pred := v.Block().Preds[i]
			if on[pred.Instrs[len(pred.Instrs)-1]] && chosen(edge, on, text, depth+1) {
				return true
			}
		}
	case *ssa.ChangeType, *ssa.Convert, *ssa.MakeInterface, *ssa.Slice:
		return chosen(*v.(ssa.Instruction).Operands(nil)[0], on, text, depth+1)
	case *ssa.UnOp:
		return chosen(v.X, on, text, depth+1)
	case *ssa.Alloc, *ssa.FieldAddr, *ssa.IndexAddr:
		for _, ref := range *v.Referrers() {
			switch ref := ref.(type) {
			case *ssa.Store:
				if ref.Addr == v && on[ref] && chosen(ref.Val, on, text, depth+1) {
					return true
				}
			case *ssa.FieldAddr, *ssa.IndexAddr:
				if calls.Is[*ssa.Alloc](v) && chosen(ref.(ssa.Value), on, text, depth+1) {
					return true
				}
			}
		}
	}
	return false
}

// paysOtherwise reports whether an instruction pays with another operation, but not after success.
func (u *unknown) paysOtherwise(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok || u.succeeded[instr] {
		return false
	}
	next := u.Find(call)
	if next == nil || next.Kind == calls.Record || next.Kind == calls.Creation {
		return false
	}
	return u.call.Kind == calls.Keyed && next.Kind == calls.Keyed && !next.Wrapper && !u.call.Wrapper && next.Operation() != u.call.Operation() ||
		u.call.Kind == calls.Keyed && next.Kind == calls.Unkeyed
}

// hides reports whether an instruction makes a new error for the caller from the call's error without wrapping the call's error.
func (u *unknown) hides(instr ssa.Instruction) bool {
	call, ok := instr.(*ssa.Call)
	if !ok || u.Asks(u.call.In) || !calls.Calls(call.Common(), []string{"fmt.Errorf", "errors.New"}) {
		return false
	}
	if format, ok := call.Call.Args[0].(*ssa.Const); ok && (format.Value == nil || strings.Contains(format.Value.ExactString(), "%w")) {
		return false
	}
	if !slices.ContainsFunc(call.Call.Args, func(arg ssa.Value) bool { return u.has(arg, 0) }) {
		return false
	}
	return returned(call, 0)
}

// has reports whether a value contains the error, or its text.
func (u *unknown) has(v ssa.Value, depth int) bool {
	if v == u.call.Value(u.call.Err) {
		return true
	}
	if depth > 8 {
		return false
	}
	switch v := v.(type) {
	case *ssa.Alloc, *ssa.IndexAddr:
		return slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
			store, ok := ref.(*ssa.Store)
			element, isElement := ref.(*ssa.IndexAddr)
			return ok && u.failed[store] && store.Addr == v && u.has(store.Val, depth+1) || isElement && element.X == v && u.has(element, depth+1)
		})
	case *ssa.Call:
		callee := calls.Callee(v.Common())
		return v.Common().IsInvoke() && u.has(v.Call.Value, depth+1) ||
			callee != nil && calls.Pure(callee) && slices.ContainsFunc(v.Call.Args, func(arg ssa.Value) bool { return u.has(arg, depth+1) })
	case *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface, *ssa.Slice, *ssa.UnOp, *ssa.BinOp:
		return slices.ContainsFunc(calls.Operands(v.(ssa.Instruction)), func(operand ssa.Value) bool { return u.has(operand, depth+1) })
	}
	return false
}

func returned(v ssa.Value, depth int) bool {
	return v.Referrers() != nil && depth < 4 && slices.ContainsFunc(*v.Referrers(), func(ref ssa.Instruction) bool {
		switch ref := ref.(type) {
		case *ssa.Return:
			return true
		case *ssa.Phi, *ssa.MakeInterface, *ssa.ChangeInterface:
			return returned(ref.(ssa.Value), depth+1)
		}
		return false
	})
}

var (
	doubtful = regexp.MustCompile(`(?i)unknown|uncertain|unsettled`)
	sent     = regexp.MustCompile(`(?i)^(last_?)?sent(_?at)?$`)
)

// lastSent reports an unknown outcome that is recorded without the time of the last request, and the use of another payment's time.
func (u *unknown) lastSent() {
	if u.call.Kind != calls.Keyed || strings.HasPrefix(u.call.Name, "Journal.") || strings.HasPrefix(u.call.Name, "Run.") {
		return
	}
	const without = "without LastSent another process takes a refusal of the repeat for proof that no money moved; "
	reads := false
	var records, unread ssa.Instruction
	loop := calls.Cycle(u.call.Instr.Block())
	for _, block := range u.call.In.Blocks {
		for _, instr := range block.Instrs {
			switch instr := instr.(type) {
			case *ssa.Store:
				if field, ok := instr.Addr.(*ssa.FieldAddr); ok && calls.FieldName(field.X.Type(), field.Field) == "LastSent" && u.Model.Owns(field.X.Type()) {
					u.times(instr, loop)
				}
			case *ssa.FieldAddr:
				name := calls.FieldName(instr.X.Type(), instr.Field)
				reads = reads || name == "LastSent" && calls.Named(instr.X.Type(), u.Model.Packages[0]+".CallError")
				if calls.Is[*ssa.Alloc](instr.X) && sent.MatchString(name) && !u.Model.Owns(instr.X.Type()) && filled(instr) && !slices.ContainsFunc(*instr.X.Referrers(), func(ref ssa.Instruction) bool {
					field, ok := ref.(*ssa.FieldAddr)
					return !ok || field != instr && field.Field == instr.Field // read elsewhere, or with the whole struct
				}) {
					unread = instr
				}
			case *ssa.Alloc:
				if sent.MatchString(instr.Comment) && filled(instr) {
					unread = instr
				}
			case *ssa.Call:
				callee := calls.Callee(instr.Common())
				if u.failed[instr] && !u.succeeded[instr] && callee != nil && u.Find(instr) == nil && !calls.Logs(callee) && !calls.Pure(callee) && len(instr.Call.Args) > 1 &&
					(doubtful.MatchString(callee.Name()) || calls.Writes(instr.Common()) && slices.ContainsFunc(instr.Call.Args, func(arg ssa.Value) bool { return chosen(arg, u.failed, doubtful, 0) })) &&
					!slices.ContainsFunc(instr.Call.Args, func(arg ssa.Value) bool { return u.has(arg, 0) }) {
					records = instr
				}
			}
		}
	}
	switch {
	case unread != nil:
		u.report(u.call.Instr, "the stored time of the last request is read, and not given to "+u.call.Name+": "+without+"set it as LastSent of the params")
	case records != nil && !reads && !u.passesOn(records):
		u.report(records, "an unknown outcome of "+u.call.Name+" is recorded without CallError.LastSent: "+without+"store it with the payment")
	}
}

// passesOn reports whether the error is returned after an instruction.
func (u *unknown) passesOn(instr ssa.Instruction) bool {
	for ret := range calls.All[*ssa.Return](u.call.In) {
		if instr.Block().Dominates(ret.Block()) && slices.ContainsFunc(ret.Results, func(v ssa.Value) bool { return u.has(v, 0) }) {
			return true
		}
	}
	return false
}

// filled reports whether a variable is written and never read.
func filled(address ssa.Value) bool {
	refs := *address.Referrers()
	return len(refs) > 0 && !slices.ContainsFunc(refs, func(ref ssa.Instruction) bool { _, boxed := ref.(*ssa.MakeInterface); return !boxed })
}

// times reports a LastSent that is guessed or is the previous payment's.
func (u *unknown) times(store *ssa.Store, loop map[*ssa.BasicBlock]bool) {
	parts := u.Parts(store.Val, "")
	if add, ok := store.Val.(*ssa.Call); ok && calls.Calls(add.Common(), []string{"(time.Time).Add", "(time.Time).AddDate"}) &&
		slices.ContainsFunc(parts, func(p calls.Part) bool { return p.New == calls.Clock }) {
		u.report(store, "LastSent is a guess: if the last request was later, the repeat overtakes it and the money moves twice; store CallError.LastSent")
	}
	for _, p := range parts {
		phi, ok := p.Value.(*ssa.Phi)
		if ok && loop[phi.Block()] && p.Changes && slices.ContainsFunc(phi.Edges, func(edge ssa.Value) bool { return fromCall(edge, 0) }) && len(calls.Renewed(u.Payment(u.call))) > 0 {
			u.report(store, "LastSent is that of another payment: keep CallError.LastSent with the payment that it belongs to")
		}
	}
}

// fromCall reports whether a value is read from a field LastSent.
func fromCall(v ssa.Value, depth int) bool {
	switch v := v.(type) {
	case *ssa.UnOp:
		field, ok := v.X.(*ssa.FieldAddr)
		return ok && calls.FieldName(field.X.Type(), field.Field) == "LastSent"
	case *ssa.Phi:
		return depth < 3 && slices.ContainsFunc(v.Edges, func(edge ssa.Value) bool { return fromCall(edge, depth+1) })
	}
	return false
}

var transactions = []string{"Tx", "Transaction"}

func isTx(t types.Type) bool {
	name := t.String()
	return slices.Contains(transactions, name[strings.LastIndex(name, ".")+1:])
}

// transaction reports a payment in a database transaction that has written something.
func (u *unknown) transaction() {
	given := slices.ContainsFunc(u.call.In.Params, func(p *ssa.Parameter) bool { return isTx(p.Type()) })
	begun, wrote, committed, later := false, false, false, false
	for call := range calls.All[*ssa.Call](u.call.In) {
		callee := calls.Callee(call.Common())
		if callee == nil || callee.Signature().Recv() == nil || u.Model.OwnsPackage(callee.Pkg()) {
			continue
		}
		before := calls.Precedes(call, u.call.Instr)
		switch onTx := isTx(callee.Signature().Recv().Type()); {
		case strings.HasPrefix(callee.Name(), "Begin") && before:
			begun, committed = true, false
		case onTx && strings.HasPrefix(callee.Name(), "Exec"):
			wrote = wrote || before || given
		case onTx && callee.Name() == "Commit":
			committed = committed || before
			later = later || u.succeeded[call]
		}
	}
	later = later || slices.ContainsFunc(u.call.In.AnonFuncs, commits)
	if wrote && (given || begun && !committed && later) {
		u.report(u.call.Instr, u.call.Name+" is made in a transaction: if it is rolled back after the money moved, nothing records the payment; commit first, then pay")
	}
}

// commits reports whether a function literal commits a transaction.
func commits(fn *ssa.Function) bool {
	return calls.Makes(fn, func(call *ssa.CallCommon) bool {
		callee := calls.Callee(call)
		return callee != nil && callee.Name() == "Commit" && callee.Signature().Recv() != nil && isTx(callee.Signature().Recv().Type())
	})
}
