package calls

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// runners match the functions and methods that run an argument again until it succeeds. The keys are the paths of their
// packages without the major version.
var runners = map[string]*regexp.Regexp{
	"github.com/cenkalti/backoff":              regexp.MustCompile(`^Retry`),
	"gopkg.in/cenkalti/backoff":                regexp.MustCompile(`^Retry`),
	"github.com/avast/retry-go":                regexp.MustCompile(`^Do`),
	"github.com/sethvargo/go-retry":            regexp.MustCompile(`^(Do|DoValue|Constant|Exponential|Fibonacci)$`),
	"github.com/eapache/go-resiliency":         regexp.MustCompile(`^Run`),
	"github.com/flowchartsman/retry":           regexp.MustCompile(`^Run`),
	"github.com/matryer/try":                   regexp.MustCompile(`^Do$`),
	"gopkg.in/matryer/try":                     regexp.MustCompile(`^Do$`),
	"github.com/juju/retry":                    regexp.MustCompile(`^Call$`),
	"github.com/Rican7/retry":                  regexp.MustCompile(`^Retry$`),
	"github.com/kamilsk/retry":                 regexp.MustCompile(`^(Do|Go|Try|Retry)`),
	"github.com/thedevsaddam/retry":            regexp.MustCompile(`^Do`),
	"github.com/googleapis/gax-go":             regexp.MustCompile(`^Invoke$`),
	"github.com/samber/lo":                     regexp.MustCompile(`^Attempt`),
	"k8s.io/client-go/util/retry":              regexp.MustCompile(`^(OnError|RetryOnConflict)$`),
	"k8s.io/apimachinery/pkg/util/wait":        regexp.MustCompile(`^(ExponentialBackoff|Poll)`), // Until and Forever are for periodic work, not for retries
	"github.com/failsafe-go/failsafe-go":       regexp.MustCompile(`^(Run|Get)`),                 // if a policy repeats: see repeats
	"github.com/eapache/go-resiliency/retrier": regexp.MustCompile(`^Run`),
}

// transports are packages with an http.RoundTripper that repeats requests.
var transports = []string{
	"github.com/hashicorp/go-retryablehttp", "github.com/PuerkitoBio/rehttp", "github.com/failsafe-go/failsafe-go/failsafehttp",
	"github.com/gojek/heimdall/httpclient", "github.com/ybbus/httpretry",
}

var major = regexp.MustCompile(`(/v[0-9]+|\.v[0-9]+)$`)

func unversioned(path string) string { return major.ReplaceAllString(path, "") }

// runs reports whether a call's function runs another function again.
func runs(common *ssa.CallCommon) bool {
	callee := Callee(common)
	if callee == nil || callee.Pkg() == nil || !runner(callee) {
		return false
	}
	return !strings.HasPrefix(callee.Pkg().Path(), failsafe) || repeats(common)
}

func runner(callee *types.Func) bool {
	names, ok := runners[unversioned(callee.Pkg().Path())]
	return ok && names.MatchString(callee.Name())
}

const failsafe = "github.com/failsafe-go/failsafe-go"

// repeats reports whether a call of failsafe-go has a policy that repeats. Other policies limit calls, or break a circuit.
func repeats(common *ssa.CallCommon) bool {
	if common.IsInvoke() { // the last step of a chain that begins with the policies
		for _, origin := range Origins(common.Value, "") {
			if call, ok := origin.(*ssa.Call); ok && repeats(call.Common()) {
				return true
			}
		}
	}
	for _, arg := range common.Args {
		for _, value := range Elements(arg) {
			if slices.ContainsFunc(Origins(value, ""), func(policy ssa.Value) bool {
				return slices.Contains([]string{"RetryPolicy", "HedgePolicy"}, TypeBase(policy.Type()))
			}) {
				return true
			}
		}
	}
	return false
}

// Elements are the elements of a slice of variadic arguments.
func Elements(v ssa.Value) []ssa.Value {
	slice, ok := v.(*ssa.Slice)
	if !ok || slice.X.Referrers() == nil { // a package variable
		return nil
	}
	var values []ssa.Value
	for _, ref := range *slice.X.Referrers() {
		if element, ok := ref.(*ssa.IndexAddr); ok {
			for _, ref := range *element.Referrers() {
				if store, ok := ref.(*ssa.Store); ok {
					values = append(values, store.Val)
				}
			}
		}
	}
	return values
}

// Reruns returns the functions that a call runs until they succeed. If a library or helper runs them, again is true.
func (r *Result) Reruns(instr ssa.CallInstruction) (list []*ssa.Function, again bool) {
	common := instr.Common()
	library := runs(common)
	fact := new(rerun)
	if callee := Callee(common); !library && (callee == nil || !r.pass.ImportObjectFact(callee, fact)) {
		return nil, false
	}
	for i, arg := range common.Args {
		if library || fact.Params>>min(i, 63)&1 == 1 {
			list = append(list, functions(arg, 0)...)
		}
	}
	return list, true
}

// rerun is the fact that a function runs some of its parameters until they succeed.
type rerun struct{ Params uint64 }

func (*rerun) AFact() {}

// functions are the possible functions of a value, which may be in an interface or a struct.
func functions(v ssa.Value, depth int) []*ssa.Function {
	var found []*ssa.Function
	if depth > 4 {
		return nil
	}
	for _, origin := range Origins(v, "") {
		if load, ok := origin.(*ssa.UnOp); ok {
			origin = load.X
		}
		switch origin := origin.(type) {
		case *ssa.Function:
			found = append(found, origin)
		case *ssa.MakeClosure:
			found = append(found, origin.Fn.(*ssa.Function))
		case *ssa.Alloc: // a struct with a function in a field
			for _, ref := range *origin.Referrers() {
				if field, ok := ref.(*ssa.FieldAddr); ok {
					for _, ref := range *field.Referrers() {
						if store, ok := ref.(*ssa.Store); ok {
							found = append(found, functions(store.Val, depth+1)...)
						}
					}
				}
			}
		case *ssa.Call: // of a function that returns a function
			if maker := origin.Common().StaticCallee(); maker != nil {
				for ret := range All[*ssa.Return](maker) {
					found = append(found, functions(ret.Results[0], depth+1)...)
				}
			}
		}
	}
	return found
}

// Repeats reports whether a transport's package repeats requests. If so, name is that of the package, otherwise that of the type.
func Repeats(t types.Type) (yes bool, name string) {
	named, ok := types.Unalias(t).(*types.Named)
	if !ok || named.Obj().Pkg() == nil {
		return false, ""
	}
	if slices.Contains(transports, unversioned(named.Obj().Pkg().Path())) {
		return true, "of " + named.Obj().Pkg().Name()
	}
	return false, named.Obj().Name()
}

// Transports reports whether the package of a function makes transports that repeat requests.
func Transports(callee *types.Func) (yes bool, name string) {
	if callee == nil || callee.Pkg() == nil {
		return false, ""
	}
	return slices.Contains(transports, unversioned(callee.Pkg().Path())), "of " + callee.Pkg().Name()
}
