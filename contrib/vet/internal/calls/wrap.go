package calls

import "golang.org/x/tools/go/ssa"

// wrap finds the functions that are money calls for their callers.
func (r *Result) wrap() {
	r.wrappers = map[*ssa.Function]Func{}
}
