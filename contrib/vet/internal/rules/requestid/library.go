package requestid

import (
	"go/constant"
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

// randomly are packages whose functions, but for those in derives, return another value each time.
var randomly = []string{
	"crypto/rand", "math/rand", "math/rand/v2",
	"github.com/google/uuid", "github.com/gofrs/uuid", "github.com/satori/go.uuid", "github.com/hashicorp/go-uuid",
	"github.com/rs/xid", "github.com/oklog/ulid", "github.com/segmentio/ksuid", "github.com/lithammer/shortuuid",
	"github.com/matoous/go-nanoid", "github.com/jaevor/go-nanoid", "github.com/teris-io/shortid", "github.com/dchest/uniuri",
	"github.com/nrednav/cuid2", "github.com/lucsky/cuid", "github.com/thanhpk/randstr",
}

var makes = regexp.MustCompile(`^(Must)?(New|Make|Gen|Int|Uint|Float|N$|Norm|Exp|Perm|Text|Prime|Rand|Random|String|Hex|Base62|Bytes|Must|Short|Default)`)

// derives are functions of those packages that return the same value for the same arguments, or convert.
var derives = regexp.MustCompile(`SHA1|MD5|Hash|V3|V5|Parse|From|^NewSource|^NewZipf|^NewPCG|^NewChaCha8|Scan`)

// plain are packages whose functions return the same for the same arguments, and change none of them.
var plain = []string{
	"bytes", "cmp", "context", "crypto/sha1", "crypto/sha256", "crypto/sha512", "crypto/md5", "encoding/base32", "encoding/base64", "encoding/hex",
	"errors", "fmt", "log", "log/slog", "maps", "math", "path", "slices", "strconv", "strings", "sync/atomic", "time", "unicode", "os/signal",
}

// logs are parts of the paths of packages that write down what happens.
var logs = regexp.MustCompile(`(^|[/.-])(log|slog|zap|zerolog|logr|logrus|otel|metrics?|trace|tracing|sentry|prometheus|statsd)([/.-]|$|v[0-9])`)

// retriers are libraries that call a function again, with the names of those that do.
var retriers = map[string]*regexp.Regexp{
	"github.com/cenkalti/backoff":       regexp.MustCompile(`^Retry`),
	"github.com/avast/retry-go":         regexp.MustCompile(`^Do`),
	"github.com/sethvargo/go-retry":     regexp.MustCompile(`^(Do|DoValue|Constant|Exponential|Fibonacci)$`),
	"github.com/eapache/go-resiliency":  regexp.MustCompile(`^Run`),
	"github.com/matryer/try":            regexp.MustCompile(`^Do$`),
	"github.com/Rican7/retry":           regexp.MustCompile(`^Retry$`),
	"github.com/flowchartsman/retry":    regexp.MustCompile(`^Run`),
	"github.com/giantswarm/retry-go":    regexp.MustCompile(`^Do$`),
	"github.com/samber/lo":              regexp.MustCompile(`^Attempt`),
	"k8s.io/client-go/util/retry":       regexp.MustCompile(`^OnError$`),
	"github.com/sourcegraph/conc/retry": regexp.MustCompile(`^Do`),
	"github.com/thedevsaddam/retry":     regexp.MustCompile(`^Do`),
}

var version = regexp.MustCompile(`/v[0-9]+(/|$)`)

func pathOf(callee *types.Func) string {
	if callee == nil || callee.Pkg() == nil {
		return ""
	}
	before, _, _ := strings.Cut(callee.Pkg().Path(), " ")
	return before
}

// repeats finds the function that a library, or a function of the program, calls again after an error. If again is set, it does so
// only after errors that are marked.
func (w *walk) repeats(callee *types.Func, common *ssa.CallCommon, args []value) (index int, again, ok bool) {
	if callee == nil {
		return 0, false, false
	}
	fact := new(repeater)
	if w.pass.ImportObjectFact(callee, fact) {
		index := fact.Param + len(args) - callee.Signature().Params().Len()
		if index >= 0 && index < len(args) && args[index].closure != nil {
			return index, false, true
		}
		return 0, false, false
	}
	path := unversioned(pathOf(callee))
	for at, names := range retriers {
		if (path == at || strings.HasPrefix(path, at+"/")) && names.MatchString(callee.Name()) {
			for i, arg := range args {
				if arg.closure != nil && returnsError(common.Args[i].Type()) {
					return i, at == "github.com/sethvargo/go-retry", true
				}
			}
		}
	}
	return 0, false, false
}

func returnsError(t types.Type) bool {
	signature, ok := t.Underlying().(*types.Signature)
	return ok && signature.Results().Len() > 0 && isError(signature.Results().At(signature.Results().Len()-1).Type())
}

// library is the result of a function of the standard library, the SDK, or a package that makes IDs.
func (w *walk) library(fr *frame, callee *types.Func, instr ssa.CallInstruction, args []value, st *state) (value, bool) {
	common := instr.Common()
	if builtin, ok := common.Value.(*ssa.Builtin); ok {
		return join(st.phase, builtin.Name()+"("+names(args)+")", args...), true
	}
	if callee == nil {
		return value{}, false
	}
	path := pathOf(callee)
	result := join(st.phase, callee.FullName()+"("+names(args)+")", args...)
	switch {
	case calls.Calls(common, w.calls.Model.Fresh):
		return w.made(maker, callee, instr, st), true
	case w.inSDK(callee.Pkg()):
		return w.ofSDK(callee, common, result, args, st), true
	case path == "errors" || path == "fmt" && callee.Name() == "Errorf" || path == "github.com/pkg/errors":
		return w.ofErrors(callee, common, result, args, st), true
	case path == "time":
		return w.ofTime(callee, instr, result, args, st), true
	case isRandom(path) && callee.Name() == "Read" && len(args) > 0:
		w.fill(fr, common.Args[len(args)-1], w.made(random, callee, instr, st), st)
		return value{name: resultName(instr)}, true
	case isRandom(path):
		if makes.MatchString(callee.Name()) && !derives.MatchString(callee.Name()) && !(callee.Signature().Recv() != nil && callee.Name() == "String") {
			return w.made(random, callee, instr, st), true
		}
		return result, true
	case strings.HasSuffix(callee.FullName(), "/backoff.Permanent") || callee.Name() == "Permanent" || callee.Name() == "Unrecoverable":
		result.final, result.known = true, notNil
		return result, true
	case callee.Name() == "RetryableError":
		result.again, result.known = true, notNil
		return result, true
	case logs.MatchString(path):
		return result, true
	case slices.Contains(plain, path) && !strings.Contains(callee.Name(), "Scan") && !anyClosure(args):
		return result, true
	}
	fact := new(madeBy)
	if w.pass.ImportObjectFact(callee, fact) {
		return w.ofFact(fact, callee, instr, result, st), true
	}
	return value{}, false
}

func anyClosure(args []value) bool {
	for _, arg := range args {
		if arg.closure != nil {
			return true
		}
	}
	return false
}

func isRandom(path string) bool {
	return slices.Contains(randomly, path) || slices.Contains(randomly, unversioned(path))
}

// unversioned is a path without its major version.
func unversioned(path string) string {
	return strings.TrimSuffix(version.ReplaceAllString(path, "/"), "/")
}

func names(args []value) string {
	var all strings.Builder
	for _, arg := range args {
		all.WriteString(arg.identity() + ",")
	}
	return all.String()
}

// made is another value each time.
func (w *walk) made(k kind, callee *types.Func, instr ssa.CallInstruction, st *state) value {
	call, _ := instr.(*ssa.Call)
	name := callee.Pkg().Name() + "." + callee.Name()
	if recv := callee.Signature().Recv(); recv != nil {
		name = callee.Name()
	}
	result := value{
		age: made, phase: st.phase, name: resultName(instr),
		source: &source{kind: k, pos: instr.Pos(), call: call, name: name},
	}
	if callee.Signature().Results().Len() == 2 { // and an error
		return value{parts: []value{result, {name: result.name + "#1"}}}
	}
	return result
}

// fill means that a buffer has random bytes now.
func (w *walk) fill(fr *frame, buffer ssa.Value, with value, st *state) {
	if with.parts != nil {
		with = with.parts[0]
	}
	fr.env[buffer] = with
	if slice, ok := buffer.(*ssa.Slice); ok {
		st.cells["*"+w.value(fr, slice.X, st).name+"[]"] = with
	}
}

func (w *walk) ofSDK(callee *types.Func, common *ssa.CallCommon, result value, args []value, st *state) value {
	params := callee.Signature().Params()
	switch {
	case callee.Name() == "OutcomeOf" && len(args) == 1:
		result.verdict = false
		if args[0].known == isNil {
			result.known = outcomeApplied
		} else if args[0].failure {
			result.known = outcomeUnknown
		}
	case callee.Name() == "ProvesNotApplied":
		result.verdict = false
		if st.failed {
			result.known = isFalse
		}
	case callee.Name() == "DateOf": // a day, not a moment
		result.age, result.source = same, nil
	case params.Len() > 0 && calls.Named(params.At(0).Type(), "context.Context"):
		result = w.reads(common, result, st)
	}
	return result
}

// reads is the result of a call of the service that is no payment: it may have looked for one.
func (w *walk) reads(common *ssa.CallCommon, result value, st *state) value {
	result.age, result.phase, result.source = other, st.phase, nil
	for _, arg := range common.Args[min(1, len(common.Args)):] {
		result.guard = result.guard || ofPayment(arg)
	}
	return result
}

func (w *walk) ofErrors(callee *types.Func, common *ssa.CallCommon, result value, args []value, st *state) value {
	failure, allNil := false, true
	for _, arg := range args {
		failure = failure || arg.failure
		allNil = allNil && arg.known == isNil
	}
	of := value{name: result.name, phase: st.phase, failure: failure, guard: result.guard, age: result.age, source: result.source}
	yes := value{name: result.name, phase: st.phase}
	switch callee.Name() {
	case "New", "Errorf":
		of.known = notNil
	case "Is":
		if args[0].failure {
			return w.is(w.sentinel(common.Args[1]), yes)
		}
		if args[0].known == isNil {
			yes.known = isFalse
		}
		return yes
	case "As", "AsType":
		if args[0].failure {
			yes = w.is(w.errorType(target(common)), yes)
		} else if args[0].known == isNil {
			yes.known = isFalse
		}
		if callee.Name() == "AsType" {
			return value{parts: []value{of, yes}}
		}
		if made, ok := common.Args[1].(*ssa.MakeInterface); ok && args[0].failure { // the target is the error now
			st.cells["*"+args[1].name] = value{name: "*" + args[1].name, known: notNil, failure: true}
			_ = made
		}
		return yes
	default: // Join, Wrap, Unwrap …
		if allNil || len(args) > 0 && callee.Name() != "Join" && args[0].known == isNil {
			of.known = isNil
		} else if failure {
			of.known = notNil
		}
	}
	return of
}

// target is the type that errors.As or errors.AsType looks for.
func target(common *ssa.CallCommon) types.Type {
	if len(common.Args) == 2 {
		if made, ok := common.Args[1].(*ssa.MakeInterface); ok {
			if p, ok := made.X.Type().Underlying().(*types.Pointer); ok {
				return p.Elem()
			}
		}
	}
	if results := common.Signature().Results(); results.Len() == 2 {
		return results.At(0).Type()
	}
	return types.Typ[types.Invalid]
}

// ofTime is the result of a function of package time. A day is the same for a repeat, but for midnight.
func (w *walk) ofTime(callee *types.Func, instr ssa.CallInstruction, result value, args []value, st *state) value {
	day := result
	day.age, day.source = same, nil
	switch callee.Name() {
	case "Now":
		if callee.Signature().Recv() == nil {
			return w.made(clock, callee, instr, st)
		}
	case "Date", "Year", "Month", "Day", "YearDay", "Weekday", "ISOWeek":
		return day
	case "Truncate", "Round":
		if d, ok := instr.Common().Args[len(args)-1].(*ssa.Const); ok && d.Value != nil {
			if n, exact := constant.Int64Val(d.Value); exact && n >= 24*3600e9 {
				return day
			}
		}
	case "Format", "AppendFormat":
		layout, ok := instr.Common().Args[len(args)-1].(*ssa.Const)
		if !ok || layout.Value == nil || !regexp.MustCompile(`15|3|4|5`).MatchString(strings.NewReplacer("2006", "", "Jan", "").Replace(constant.StringVal(layout.Value))) {
			return day
		}
	}
	return result
}
