package calls

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"
)

// The values of Part.New.
const (
	Clock  = "the time"
	Random = "a random value"
	NewID  = "a request ID"
)

// maker is the fact that the first result of a function, or the request ID in this result, differs each time.
type maker struct{ New string }

func (*maker) AFact() {}

// maker returns the kind of new value that a function returns.
func (r *Result) maker(callee *types.Func) string {
	fact := new(maker)
	r.pass.ImportObjectFact(callee, fact)
	return fact.New
}

// makes finds the functions that make request IDs or texts for IDs.
func (r *Result) makes() {
	if OwnsPackage(r.pass.Pkg) {
		return
	}
	r.settle(func(fn *ssa.Function) analysis.Fact {
		kind := r.made(fn)
		if kind == "" {
			return nil
		}
		return &maker{kind}
	})
}

// made returns the kind of new value that a function returns first, in the request ID of params, or as the ID or its text.
func (r *Result) made(fn *ssa.Function) (kind string) {
	results := fn.Signature.Results()
	if results.Len() == 0 || results.Len() > 2 || fn.Parent() != nil {
		return ""
	}
	first := results.At(0).Type()
	field := paramTypes[typeName(first)].Key.Field
	text := types.Identical(first, types.Typ[types.String])
	if field == "" && !text && !Named(first, ID) {
		return ""
	}
	for ret := range All[*ssa.Return](fn) {
		for _, part := range r.Parts(ret.Results[0], field) {
			if part.New != "" && (part.New != Clock || !text || fn.Signature.Params().Len() == 0) {
				kind = part.New
			}
		}
	}
	return kind
}

// randomly are packages whose functions, except those in derives, return a new value each time.
var randomly = []string{
	"crypto/rand", "math/rand", "github.com/google/uuid", "github.com/gofrs/uuid", "github.com/rs/xid", "github.com/oklog/ulid",
	"github.com/segmentio/ksuid", "github.com/matoous/go-nanoid",
}

// derives matches the functions of these packages that return equal values for equal arguments, or that convert values.
var derives = regexp.MustCompile(`SHA1|MD5|Hash|V3|V5|Parse|From|^NewSource|^NewZipf|^NewPCG|^NewChaCha8|Scan|^Must$`)

func random(callee *types.Func) string {
	switch {
	case callee == nil || callee.Pkg() == nil:
	case callee.FullName() == "time.Now":
		return Clock
	case isRandom(callee) && callee.Signature().Recv() == nil && !derives.MatchString(callee.Name()):
		return Random
	}
	return ""
}

func isRandom(callee *types.Func) bool {
	return slices.Contains(randomly, unversioned(path(callee.Pkg())))
}

// plain are packages whose functions return equal values for equal arguments and change no argument.
var plain = []string{
	"bytes", "cmp", "context", "crypto/sha1", "crypto/sha256", "crypto/sha512", "crypto/md5", "encoding/base32", "encoding/base64", "encoding/hex", SDK,
	"errors", "fmt", "log", "log/slog", "maps", "math", "path", "slices", "strconv", "strings", "time", "unicode", "encoding/json", "net/url",
}

// Pure reports whether a function returns equal values for equal arguments and stores no argument.
func Pure(callee *types.Func) bool {
	if callee.Pkg() == nil || !slices.Contains(plain, path(callee.Pkg())) && !isRandom(callee) {
		return false
	}
	params := callee.Signature().Params()
	sends := path(callee.Pkg()) == SDK && params.Len() > 0 && Named(params.At(0).Type(), "context.Context")
	return !sends && !slices.ContainsFunc([]string{"Fprint", "Scan", "Unmarshal", "Decode"}, func(part string) bool { return strings.Contains(callee.Name(), part) })
}

// Steady is Pure for a function with a body.
func Steady(fn *ssa.Function, depth int) bool {
	for call := range All[ssa.CallInstruction](fn) {
		callee := Callee(call.Common())
		inner := call.Common().StaticCallee()
		_, builtin := call.Common().Value.(*ssa.Builtin)
		if !builtin && (callee == nil || !Pure(callee)) && (inner == nil || inner.Blocks == nil || depth > 3 || !Steady(inner, depth+1)) {
			return false
		}
	}
	return true
}

// Logs reports whether a call is of a logger: a function with any number of arguments and no result.
func Logs(common *ssa.CallCommon) bool {
	return common.Signature().Variadic() && common.Signature().Results().Len() == 0
}
