package calls_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/analysistest"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

// The facts that are exported for functions that pass a payment on.
func TestWrappers(t *testing.T) {
	t.Parallel()
	analysistest.Run(t, vettest.Tree(t, "testdata"), calls.Analyzer, "wrap")
}

// A rule prints the calls that it is given.
func TestCalls(t *testing.T) {
	t.Parallel()
	vettest.Run(t, "testdata", &analysis.Analyzer{
		Name: "print", Doc: "print what is found", Requires: []*analysis.Analyzer{calls.Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			found := calls.Of(pass)
			for _, call := range found.Calls {
				require.Same(t, call, found.Find(call.Instr))
				var keys []string
				for _, key := range call.Keys() {
					keys = append(keys, describe(key))
				}
				pass.Reportf(call.Pos(), "%s of kind %d, wrapper %t, keys %s", call.Name, call.Kind, call.Wrapper, strings.Join(keys, " or "))
			}
			return nil, nil
		},
	}, "find", "unused")
}

func describe(value ssa.Value) string {
	switch v := value.(type) {
	case *ssa.Call:
		return calls.Callee(v.Common()).Name() + "()"
	case *ssa.Parameter:
		return v.Name()
	case *ssa.Const:
		if v.Value == nil {
			return "zero"
		}
		return v.Value.String()
	}
	return fmt.Sprintf("%T", value)
}

// A package that does not use the SDK costs nothing.
func TestUnused(t *testing.T) {
	t.Parallel()
	for _, result := range analysistest.Run(t, vettest.Tree(t, "testdata"), calls.Analyzer, "unused") {
		require.Nil(t, result.Result.(*calls.Result).SSA)
		require.Empty(t, result.Facts)
	}
}
