package deadline

import (
	"slices"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
	"github.com/cardprograms/prepaid/contrib/vet/internal/requests"
)

// origin is the source of a context's deadline: the index of a parameter, or one of the constants.
type origin int

const (
	unknown   origin = -1 // may have a deadline
	request   origin = -2 // an HTTP request's context: a middleware may set a deadline
	unbounded origin = -3 // no deadline
	circular  origin = -4 // made of itself: its other sources decide
)

var (
	fresh = []string{"context.Background", "context.TODO", "context.WithoutCancel"}
	// kept are functions that return a context with the deadline of their first argument. The value is the index of the result.
	kept = map[string]int{
		"context.WithCancel": 0, "context.WithCancelCause": 0, "context.WithValue": 0, "os/signal.NotifyContext": 0,
		"golang.org/x/sync/errgroup.WithContext": 1, "(go.opentelemetry.io/otel/trace.Tracer).Start": 0,
	}
	// ofRequest are functions that return the context of a request.
	ofRequest = []string{
		"(*net/http.Request).Context", "(*github.com/gofiber/fiber/v2.Ctx).UserContext", "(*github.com/gofiber/fiber/v2.Ctx).Context",
		"(github.com/gofiber/fiber/v3.Ctx).Context",
	}
)

// origin follows a context back. A captured variable may be made of itself: "ctx, cancel = context.WithCancel(ctx)".
func (r *rule) origin(v ssa.Value) origin {
	if r.following[v] {
		return circular
	}
	r.following[v] = true
	defer delete(r.following, v)
	result := circular
	for _, from := range calls.Origins(v, "") {
		one := r.one(from)
		switch {
		case one == circular:
		case result == circular:
			result = one
		case result == request && one == unbounded, result == unbounded && one == request:
			result = request
		case one != result:
			return unknown
		}
	}
	if result == circular && len(r.following) == 1 {
		return unknown
	}
	return result
}

func (r *rule) one(v ssa.Value) origin {
	if requests.Is(v.Type()) { // *gin.Context is a context.Context
		return request
	}
	result := 0
	if extract, ok := v.(*ssa.Extract); ok {
		v, result = extract.Tuple, extract.Index
	}
	switch v := v.(type) {
	case *ssa.Parameter:
		// Any code may call a literal and set its parameter.
		if v.Parent().Parent() == nil && calls.Named(v.Type(), "context.Context") {
			return origin(slices.Index(v.Parent().Params, v))
		}
	case *ssa.Call:
		return r.call(v, result)
	}
	return unknown
}

func (r *rule) call(call *ssa.Call, result int) origin {
	common := call.Common()
	callee := calls.Callee(common)
	switch {
	case callee == nil:
		return unknown
	case calls.Calls(common, fresh):
		return unbounded
	case calls.Calls(common, ofRequest):
		return r.request(common)
	}
	index, keeps := kept[callee.FullName()]
	if arg := contextOf(common.Args); arg != nil && (keeps && index == result || r.Model.OwnsPackage(callee.Pkg())) {
		return r.origin(arg)
	}
	derived := &derives{unknown}
	if fn := common.StaticCallee(); fn != nil && fn.Blocks != nil {
		derived = r.result(fn)
	} else if !common.IsInvoke() {
		r.pass.ImportObjectFact(callee, derived)
	}
	if derived.Context >= 0 && int(derived.Context) < len(common.Args) {
		return r.origin(common.Args[derived.Context])
	}
	return derived.Context
}

// request is the origin of a request's context. The request is a parameter, or a copy with another context.
func (r *rule) request(common *ssa.CallCommon) origin {
	of := common.Value
	if !common.IsInvoke() {
		of = common.Args[0]
	}
	result := unknown
	for _, from := range calls.Origins(of, "") {
		switch from := from.(type) {
		case *ssa.Parameter:
			result = request
		case *ssa.Call:
			if callee := calls.Callee(from.Common()); callee != nil && (callee.Name() == "WithContext" || callee.Name() == "Clone") {
				return r.origin(contextOf(from.Common().Args))
			}
			// (echo.Context).Request
			if args := append([]ssa.Value{from.Common().Value}, from.Common().Args...); slices.ContainsFunc(args, func(v ssa.Value) bool { return requests.Is(v.Type()) }) {
				return request
			}
			return unknown
		case *ssa.FieldAddr: // gin.Context.Request
			if requests.Is(from.X.Type()) {
				return request
			}
			return unknown
		default:
			return unknown
		}
	}
	return result
}

// result is the origin of a context that a function of this package returns.
func (r *rule) result(fn *ssa.Function) *derives {
	if d, ok := r.returned[fn]; ok {
		return d
	}
	d := &derives{unknown}
	r.returned[fn] = d
	results := fn.Signature.Results()
	if results.Len() == 0 || !calls.Named(results.At(0).Type(), "context.Context") {
		return d
	}
	from := unknown
	for ret := range calls.All[*ssa.Return](fn) {
		one := r.origin(ret.Results[0])
		if one == unknown || one == circular || from != unknown && one != from {
			return d
		}
		from = one
	}
	d.Context = from
	return d
}
