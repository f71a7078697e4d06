package requestid

import (
	"go/types"
	"maps"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// address is the name of what an address points to.
func (w *walk) address(fr *frame, v ssa.Value, st *state) string {
	return "*" + w.value(fr, v, st).name
}

func (w *walk) store(fr *frame, instr *ssa.Store, st *state) {
	at := w.address(fr, instr.Addr, st)
	stored := w.value(fr, instr.Val, st)
	if !w.ofParams(instr.Addr) {
		w.keep(stored, instr.Val, st)
	}
	last, ok := st.cells[at]
	if !ok {
		last.name = at // what was there at the start
	}
	forget(st, at)
	delete(st.cells, "!"+at)
	stored = widen(last, stored, at, st)
	fields := stored.fields
	stored.fields = nil
	st.cells[at] = stored
	for path, f := range fields {
		st.cells[at+path] = f
	}
}

// forget drops what is known of the memory at an address and of the fields there.
func forget(st *state, at string) {
	for cell := range st.cells {
		if cell == at || strings.HasPrefix(cell, at+".") || strings.HasPrefix(cell, at+"[") {
			delete(st.cells, cell)
		}
	}
}

// clobber means that what an address points to was changed somewhere else.
func clobber(st *state, at string) {
	forget(st, at)
	st.cells["!"+at] = value{age: other, phase: st.phase}
}

func (w *walk) load(fr *frame, addr ssa.Value, st *state) value {
	base := w.value(fr, addr, st)
	at := "*" + base.name
	loaded, ok := st.cells[at]
	if !ok {
		loaded = value{name: at, age: base.age, phase: base.phase, source: base.source, guard: base.guard}
		for whole := at; whole != ""; whole = parent(whole) {
			if c, ok := st.cells["!"+whole]; ok && loaded.ageIn(st.phase) != other {
				loaded.age, loaded.phase = c.age, c.phase
			}
			if c, ok := st.cells[whole]; ok && whole != at { // a struct was stored as a whole
				loaded = c.field(at[len(whole):], st.phase)
				break
			}
		}
		if base.failure && strings.HasSuffix(at, ".Outcome") {
			loaded.known = outcomeUnknown
		}
		if base.failure && strings.HasSuffix(at, ".Status") {
			loaded.known = serverError
		}
	}
	for cell, f := range st.cells {
		if path, ok := strings.CutPrefix(cell, at+"."); ok {
			if loaded.fields == nil {
				loaded.fields = map[string]value{}
			} else {
				loaded.fields = maps.Clone(loaded.fields)
			}
			loaded.fields["."+path] = f
		}
	}
	return loaded
}

// parent is the address of the struct of a field.
func parent(at string) string {
	i := strings.LastIndexAny(at, ".[")
	if i < 0 || strings.ContainsAny(at[i:], ":/)") {
		return ""
	}
	return at[:i]
}

// ofParams reports whether an address is in a local variable of the params of payments, or is one of plain type.
func (w *walk) ofParams(addr ssa.Value) bool {
	switch addr := addr.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.FreeVar:
		return true
	case *ssa.IndexAddr: // the array of variadic arguments
		_, ok := addr.X.(*ssa.Alloc)
		return ok
	case *ssa.FieldAddr:
		return w.isParams(addr.X.Type()) && w.ofParams(addr.X)
	}
	return false
}

func (w *walk) selects(fr *frame, instr *ssa.Select, st *state) value {
	result := value{parts: []value{{}, {}}}
	for _, s := range instr.States {
		if s.Dir != types.RecvOnly {
			continue
		}
		received, ok := st.cells["<-"+w.value(fr, s.Chan, st).name]
		if !ok {
			received = value{age: other, phase: st.phase}
		}
		result.parts = append(result.parts, received)
	}
	return result
}
