package requestid

import (
	"go/token"
	"go/types"
	"slices"
	"strconv"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// sending is a call that pays, or the call of a function that another function was given.
type sending struct {
	at    ssa.Instruction
	outer ssa.Instruction // in the root
	name  string
	id    value
	// payment are the paying account, the amount and the destination, or the arguments of a wrapper.
	payment []value
	// rest are references.
	rest []value
	// err and result are the indices of results.
	err, result int
	// own is what is known of a wrapper that makes the ID itself.
	own *sender
	// param is the index of the parameter that is called, or -1.
	param int
}

func (s *sending) key() string {
	var text strings.Builder
	text.WriteString(s.id.name)
	for _, v := range s.payment {
		text.WriteString("|" + v.identity())
	}
	return text.String()
}

// same reports whether s is for the payment of an earlier sending.
func (s *sending) same(first *sending, p phase) bool {
	if len(s.payment) != len(first.payment) || (s.own == nil) != (first.own == nil) {
		return false
	}
	for i, v := range s.payment {
		if v.ageIn(p) != same || v.identity() != first.payment[i].identity() {
			return false
		}
	}
	return !slices.ContainsFunc(s.rest, func(v value) bool { return v.ageIn(p) == other })
}

// sendingOf returns the sending that a call is, or nil.
func (w *walk) sendingOf(fr *frame, instr ssa.CallInstruction, target value, args []value, st *state) *sending {
	common := instr.Common()
	s := &sending{at: instr, outer: fr.outer(instr), param: -1, err: calls.None, result: calls.None}
	if callee := calls.Callee(common); callee != nil && bodyOf(common.StaticCallee()) == nil {
		fact := new(sender)
		if w.pass.ImportObjectFact(callee, fact) {
			s.own, s.name = fact, callee.Name()
			s.id = value{age: made, phase: st.phase, name: resultName(instr), source: &source{kind: maker, pos: instr.Pos(), name: s.name}}
			s.payment = payload(common, args, -1)
			return s
		}
	}
	call := w.find(instr)
	if call != nil && call.Wrapper && bodyOf(common.StaticCallee()) != nil {
		return nil // it is followed
	}
	if call == nil {
		return w.parameter(instr, target, args, s, st)
	}
	if call.Kind != calls.Keyed || call.Key.Param == calls.None {
		return nil
	}
	s.name, s.err, s.result = call.Name, call.Err, call.Result
	offset := len(args) - common.Signature().Params().Len()
	if object := calls.Callee(common); object != nil {
		offset = len(args) - object.Signature().Params().Len()
	}
	key := call.Key.Param + offset
	if key < 0 || key >= len(args) {
		return nil
	}
	if call.Key.Field == "" {
		s.id = args[key]
		s.payment = payload(common, args, key)
		return s
	}
	params := args[key]
	if _, ok := common.Args[key].Type().Underlying().(*types.Pointer); ok {
		params = w.loaded(params, st)
	}
	s.id = params.field("."+call.Key.Field, st.phase)
	for _, field := range fieldsOf(common.Args[key]) {
		switch v := params.field("."+field, st.phase); {
		case field == call.Key.Field, field == "LastSent", strings.HasPrefix(field, "Initiat"):
		case strings.HasSuffix(field, "Reference"):
			s.rest = append(s.rest, v)
		default:
			s.payment = append(s.payment, v)
		}
	}
	for i := offset; i < key; i++ {
		if calls.Named(common.Args[i].Type(), "context.Context") {
			continue
		}
		s.payment = append(s.payment, args[i])
	}
	return s
}

// loaded is what a pointer points to.
func (w *walk) loaded(p value, st *state) value {
	whole := value{name: "*" + p.name, age: p.age, phase: p.phase, fields: map[string]value{}}
	for cell, f := range st.cells {
		if path, ok := strings.CutPrefix(cell, "*"+p.name+"."); ok {
			whole.fields["."+path] = f
		}
	}
	return whole
}

// fieldsOf are the fields of params. An interface of params is made from a struct.
func fieldsOf(v ssa.Value) []string {
	if made, ok := v.(*ssa.MakeInterface); ok {
		v = made.X
	}
	t := v.Type()
	if p, ok := t.Underlying().(*types.Pointer); ok {
		t = p.Elem()
	}
	s, ok := t.Underlying().(*types.Struct)
	if !ok {
		return []string{""}
	}
	var names []string
	for field := range s.Fields() {
		names = append(names, field.Name())
	}
	return names
}

// parameter returns the sending that stands for a call of a function that the root was given: to find retry helpers.
func (w *walk) parameter(instr ssa.CallInstruction, target value, args []value, s *sending, st *state) *sending {
	common := instr.Common()
	if st.first != nil && st.first.param < 0 { // of interest only in a walk from one such call to the next
		return nil
	}
	if common.IsInvoke() || target.closure != nil || !returnsError(common.Value.Type()) || w.root.Parent() != nil {
		return nil
	}
	for i, param := range w.root.Params {
		if target.name != local(param) {
			continue
		}
		s.param = i
		if w.root.Signature.Recv() != nil {
			s.param--
		}
		s.name, s.err = param.Name(), common.Signature().Results().Len()-1
		s.id = value{age: made, phase: 1, source: &source{pos: instr.Pos()}}
		s.payment = payload(common, args, -1)
		return s
	}
	return nil
}

// payload are the arguments that say what is paid.
func payload(common *ssa.CallCommon, args []value, key int) []value {
	var list []value
	for i, arg := range args {
		t := common.Args[i].Type()
		basic, isBasic := t.Underlying().(*types.Basic)
		switch {
		case i == key, calls.Named(t, "context.Context"), isError(t):
		case isBasic && basic.Info()&types.IsNumeric != 0 && arg.ageIn(arg.phase) == counted: // the number of the attempt
		default:
			list = append(list, arg)
		}
	}
	return list
}

// send goes on after a sending in the three ways that matter.
func (w *walk) send(instr ssa.CallInstruction, s *sending, args []value, st *state, k then) {
	w.byTime(s, st)
	if st.phase == 1 {
		w.judge(s, st)
		return
	}
	if s.param < 0 {
		w.found.sent(s, st)
	} else {
		w.opaque(instr, nil, args, st)
	}
	unknown := value{age: other, phase: st.phase, name: resultName(instr)}
	k(st.clone(), unknown)
	for _, failed := range []bool{false, true} {
		next := st.clone()
		next.phase, next.first, next.failed, next.guarded = 1, s, failed, false
		k(next, w.outcome(instr, s, failed))
	}
}

// outcome is the result of a sending.
func (w *walk) outcome(instr ssa.CallInstruction, s *sending, failed bool) value {
	results := instr.Common().Signature().Results()
	list := make([]value, results.Len())
	for i := range list {
		list[i] = value{age: other, phase: 1, name: resultName(instr)}
		switch {
		case s.own != nil && i < len(s.own.Succeeds):
			list[i].known = s.own.Succeeds[i]
			if failed {
				list[i].known = s.own.Fails[i]
				list[i].failure = isError(results.At(i).Type())
			}
		case i == s.err && failed:
			list[i].known, list[i].failure = notNil, true
		case i == s.err:
			list[i].known = isNil
		case i == s.result && failed:
			list[i].known = isNil
		case i == s.result:
			list[i].known = notNil
		}
	}
	if len(list) == 1 {
		return list[0]
	}
	return value{name: resultName(instr), parts: list}
}

// judge compares a sending with the one before it.
func (w *walk) judge(s *sending, st *state) {
	if s.param != st.first.param || !s.same(st.first, 1) {
		return
	}
	pair := pair{st.first.at, s.at}
	if !st.failed {
		w.found.paid[pair] = true
		return
	}
	if a := s.id.ageIn(1); !st.guarded && (a == made || a == counted) {
		w.found.again[pair] = s
	}
}

// conversion notes a text that becomes a request ID.
func (w *walk) conversion(fr *frame, v, x ssa.Value, of value, st *state) value {
	if !calls.Named(v.Type(), w.calls.Model.ID) || calls.Named(x.Type(), w.calls.Model.ID) {
		return of
	}
	if st.phase == 0 {
		instr := v.(ssa.Instruction)
		w.found.converted(fr.outer(instr), instr, fr.caller == nil, w.unkept(of, st))
	}
	of.request = true
	return of
}

// byTime notes a key of a wrapper that is no request ID yet.
func (w *walk) byTime(s *sending, st *state) {
	if st.phase == 0 && s.own == nil && s.param < 0 && !s.id.request && s.id.source != nil && s.id.source.kind != maker {
		w.found.converted(s.outer, s.at, s.outer == s.at, w.unkept(s.id, st))
	}
}

// keep notes that a text was stored or handed on, so it may be the identity of an order, and the same for a repeat.
func (w *walk) keep(v value, of ssa.Value, st *state) {
	if v.source == nil || v.request || st.phase != 0 || v.ageIn(0) != made {
		return
	}
	switch t := of.Type().Underlying().(type) {
	case *types.Basic:
		if t.Info()&types.IsString == 0 {
			return
		}
	case *types.Array, *types.Slice:
	default:
		return
	}
	st.cells["kept@"+keptAt(v.source.pos)] = value{}
}

func keptAt(pos token.Pos) string { return strconv.Itoa(int(pos)) }

// unkept returns the source of a text that was not stored as something else before.
func (w *walk) unkept(v value, st *state) *source {
	a := v.ageIn(0) // other: next to it, the text has something that differs from payment to payment
	if a != made && a != other || v.source == nil || v.source.kind == maker {
		return nil
	}
	if _, kept := st.cells["kept@"+keptAt(v.source.pos)]; kept {
		return nil
	}
	return v.source
}
