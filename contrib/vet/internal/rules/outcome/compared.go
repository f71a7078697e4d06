package outcome

import (
	"go/token"
	"path"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// causes are the error types that an error of a call wraps.
var causes = []string{
	".APIError", ".ValidationError", ".TransportError", ".DecodeError", ".TokenError", "/ratelimit.RefusedError",
}

// compared reports comparisons that are never true: an error of a call wraps the value and never equals it.
func compared(pass *analysis.Pass, found *calls.Result, instr ssa.Instruction) {
	const never = " never matches an error of a call, which wraps it; use "
	switch instr := instr.(type) {
	case *ssa.BinOp:
		for _, pair := range [][2]ssa.Value{{instr.X, instr.Y}, {instr.Y, instr.X}} {
			name := found.Sentinel(pair[1])
			if (instr.Op == token.EQL || instr.Op == token.NEQ) && strings.HasPrefix(name, "Err") && !strings.HasSuffix(name, "Syntax") && !strings.HasSuffix(name, "Range") &&
				global(pair[1]) == found.Model.Packages[0] && ofCall(found, pair[0], true) {
				found.Reportf(pass, instr.Pos(), "a comparison with prepaid."+name+never+"errors.Is")
			}
		}
	case *ssa.TypeAssert:
		for _, cause := range causes {
			if name := found.Model.Packages[0] + cause; calls.Named(instr.AssertedType, name) && ofCall(found, instr.X, cause != ".ValidationError") {
				found.Reportf(pass, instr.Pos(), "an assertion of *"+path.Base(name)+never+"errors.AsType")
			}
		}
	}
}

func global(v ssa.Value) string {
	if load, ok := v.(*ssa.UnOp); ok {
		if of, ok := load.X.(*ssa.Global); ok {
			return of.Pkg.Pkg.Path()
		}
	}
	return ""
}

// ofCall reports whether an error may come from a call of the SDK, directly or through the program.
func ofCall(found *calls.Result, v ssa.Value, passed bool) bool {
	if !calls.IsError(v.Type()) {
		return false
	}
	yes := false
	for _, origin := range calls.Origins(v, "") {
		if extract, ok := origin.(*ssa.Extract); ok {
			origin = extract.Tuple
		}
		switch origin := origin.(type) {
		case *ssa.Const:
		case *ssa.Call:
			callee := calls.Callee(origin.Common())
			switch {
			case found.Find(origin) != nil:
			case callee == nil || callee.Pkg() == nil || callee.Pkg().Path() == "errors":
				return false
			case found.Model.OwnsPackage(callee.Pkg()):
				params := callee.Signature().Params()
				if params.Len() == 0 || !calls.Named(params.At(0).Type(), "context.Context") || callee.Pkg().Path() != found.Model.Packages[0] {
					return false
				}
			default:
				return false
			}
			yes = true
		case *ssa.Parameter:
			if !passed || slices.Contains([]string{"Is", "As", "Unwrap"}, origin.Parent().Name()) {
				return false
			}
			yes = true
		default:
			return false
		}
	}
	return yes
}
