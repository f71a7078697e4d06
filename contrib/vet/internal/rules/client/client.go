// Package client is the rule that a client is made once and kept.
package client

import (
	"go/ast"
	"go/types"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
	"github.com/cardprograms/prepaid/contrib/vet/internal/requests"
)

// Analyzer is the rule.
var Analyzer = &analysis.Analyzer{
	Name:      "client",
	Doc:       "report clients that are made for each request or payment",
	URL:       calls.Prepaid().Guide + "#client",
	Requires:  []*analysis.Analyzer{calls.Analyzer},
	Run:       run,
	FactTypes: []analysis.Fact{new(clients)},
}

// clients is a fact about a function: its use of clients. Bit i of a mask is for parameter i; a receiver counts as the first.
type clients struct {
	// Returns: its first result is a client that it makes in each call. Drops: it makes a client, calls the service and drops the
	// client. Config: the parameters with settings. Own: it makes a setting in each call, such as a transport.
	Returns, Drops, Own bool
	Config              uint64
	// Lends: the parameters, such as clients, that it does not keep. Calls: the parameters with which it calls the service.
	// Through: the parameters in its first result.
	Lends, Calls, Through uint64
}

func (*clients) AFact() {}
func (c *clients) String() string {
	switch {
	case c.Drops:
		return "makes a client for each call"
	case c.Returns:
		return "returns a new client"
	}
	return "uses clients"
}

// programs are packages that read command lines: a program that imports one runs once per command.
var programs = []string{"flag", "github.com/spf13/cobra", "github.com/spf13/pflag", "github.com/urfave/cli", "github.com/alecthomas/kong", "github.com/google/subcommands", "github.com/jessevdk/go-flags", "github.com/alecthomas/kingpin"}

type rule struct {
	*calls.Result
	pass  *analysis.Pass
	known map[*ssa.Function]*clients
	fates map[ssa.Value]*fate
	once  bool // the package is a program, or reads a command line
}

func run(pass *analysis.Pass) (any, error) {
	r := &rule{Result: calls.Of(pass), pass: pass, known: map[*ssa.Function]*clients{}, fates: map[ssa.Value]*fate{}, once: pass.Pkg.Name() == "main"}
	if r.SSA == nil {
		return nil, nil
	}
	for _, imported := range pass.Pkg.Imports() {
		if imported.Path() == "testing" && !strings.HasSuffix(pass.Pkg.Name(), "_test") && !tests(pass) {
			return nil, nil // helpers of tests
		}
		r.once = r.once || slices.ContainsFunc(programs, func(p string) bool { return imported.Path() == p || strings.HasPrefix(imported.Path(), p+"/") })
	}
	for _, fn := range r.Funcs {
		r.look(fn)
		if object, ok := fn.Object().(*types.Func); ok && fn.Parent() == nil {
			if c := r.summary(fn); *c != (clients{}) {
				pass.ExportObjectFact(object, c)
			}
		}
	}
	return nil, nil
}

// tests reports whether the package has test files: their imports count as its own.
func tests(pass *analysis.Pass) bool {
	return slices.ContainsFunc(pass.Files, func(file *ast.File) bool {
		return strings.HasSuffix(pass.Fset.Position(file.FileStart).Filename, "_test.go")
	})
}

const wrong = ": each client fetches a token and opens connections of its own, keeps to the rate limit alone, and forgets which payments it sent; " +
	"make one at startup and keep it, and one for each tenant if there are several"

// look reports the clients that a function or its callee makes in a handler or in a loop.
func (r *rule) look(fn *ssa.Function) {
	for _, m := range r.makers(fn) {
		switch {
		case m.reported:
			r.Reportf(r.pass, r.Pos(m.call), m.name+" for each call of "+fn.Name()+wrong)
		case requests.Handles(fn):
			r.Reportf(r.pass, r.Pos(m.call), m.name+" for each HTTP request"+wrong)
		case r.repeated(m):
			r.Reportf(r.pass, r.Pos(m.call), m.name+" in each round of a loop, with the same settings"+wrong)
		}
	}
}

// maker is a call after which a client is used and dropped.
type maker struct {
	call *ssa.Call
	name string
	// settings are the arguments that distinguish one client from another.
	settings []ssa.Value
	// uses are the instructions of the function that use the client.
	uses          []ssa.Instruction
	own, reported bool
}

func (r *rule) makers(fn *ssa.Function) []maker {
	var found []maker
	for call := range calls.All[*ssa.Call](fn) {
		c := r.of(call.Common())
		if c.Drops {
			name := calls.Callee(call.Common()).Name() + " makes a client"
			found = append(found, maker{call: call, name: name, settings: pick(call, c.Config), uses: []ssa.Instruction{call}, own: c.Own})
			continue
		}
		client := r.made(call, c)
		if client == nil {
			continue
		}
		f := r.fate(client)
		if f.kept || f.returned || len(f.calls) == 0 {
			continue
		}
		m := maker{call: call, name: "a client is made", settings: call.Common().Args, uses: f.calls}
		if c.Returns {
			m.settings, m.own = pick(call, c.Config), c.Own
		}
		m.reported = r.serves(fn, m)
		found = append(found, m)
	}
	return found
}

// made is the new client that a call returns, or nil.
func (r *rule) made(call *ssa.Call, c *clients) ssa.Value {
	if !c.Returns && !calls.Calls(call.Common(), r.Model.Clients) {
		return nil
	}
	return calls.ResultOf(call, 0)
}

func pick(call *ssa.Call, bits uint64) []ssa.Value {
	var args []ssa.Value
	for i, arg := range call.Common().Args {
		if bits>>min(i, 63)&1 == 1 {
			args = append(args, arg)
		}
	}
	return args
}

// serves reports whether other packages probably call a function for each payment: no command contains it, it is
// exported, its parameters describe the payment, and they do not have the settings of the client.
func (r *rule) serves(fn *ssa.Function, m maker) bool {
	object, ok := fn.Object().(*types.Func)
	if !ok || !object.Exported() || fn.Parent() != nil || r.once || requests.Handles(fn) {
		return false
	}
	params := fn.Params
	if fn.Signature.Recv() != nil {
		params = params[1:]
	}
	if slices.ContainsFunc(m.settings, func(v ssa.Value) bool { return depends(v, params, map[ssa.Value]bool{}) }) {
		return false
	}
	var payment []*ssa.Parameter
	for _, param := range params {
		if _, list := param.Type().Underlying().(*types.Slice); !list && !calls.Named(param.Type(), "context.Context") {
			payment = append(payment, param)
		}
	}
	for _, use := range m.uses {
		call, ok := use.(ssa.CallInstruction)
		if !ok || loops(use.Block(), use.Block()) {
			continue
		}
		if money := r.Find(call); money != nil && money.Kind.Sends() {
			if slices.ContainsFunc(call.Common().Args, func(arg ssa.Value) bool { return depends(arg, payment, map[ssa.Value]bool{}) }) {
				return true
			}
		}
	}
	return false
}

// repeated reports whether a loop makes a client, uses it, and makes another with the same settings. The loop may be around
// the function literal that makes the client.
func (r *rule) repeated(m maker) bool {
	if m.own {
		return false
	}
	block, uses := m.call.Block(), m.uses
	fn := m.call.Parent()
	for fn.Parent() != nil && !loops(block, block) { // go func() { … }() in a loop
		closure := calls.Literal(fn)
		if closure == nil || slices.ContainsFunc(m.settings, func(v ssa.Value) bool { return depends(v, fn.Params, map[ssa.Value]bool{}) }) {
			return false
		}
		block, fn, uses = closure.Block(), fn.Parent(), []ssa.Instruction{closure}
	}
	if !slices.ContainsFunc(uses, func(use ssa.Instruction) bool { return use.Parent() == fn && loops(block, use.Block()) }) {
		return false
	}
	return !slices.ContainsFunc(m.settings, func(v ssa.Value) bool { return r.varies(v, block, map[ssa.Value]bool{}) })
}

// of is the summary of the called function.
func (r *rule) of(common *ssa.CallCommon) *clients {
	return calls.Summary(r.pass, common, r.summary)
}

// summary is the use of clients in a function of this package.
func (r *rule) summary(fn *ssa.Function) *clients {
	if c, ok := r.known[fn]; ok {
		return c
	}
	c := new(clients)
	r.known[fn] = c
	for i, param := range fn.Params {
		if i > 63 || !r.holds(param.Type()) {
			continue
		}
		f := r.fate(param)
		if f.kept {
			continue
		}
		c.Lends |= 1 << i
		if len(f.calls) > 0 {
			c.Calls |= 1 << i
		}
		if f.returned {
			c.Through |= 1 << i
		}
	}
	if fn.Parent() != nil {
		return c
	}
	settings := func(values []ssa.Value, own bool) {
		c.Own = c.Own || own || slices.ContainsFunc(values, func(v ssa.Value) bool { return r.own(v, map[ssa.Value]bool{}) })
		for i, param := range fn.Params {
			if slices.ContainsFunc(values, func(v ssa.Value) bool { return depends(v, []*ssa.Parameter{param}, map[ssa.Value]bool{}) }) {
				c.Config |= 1 << min(i, 63)
			}
		}
	}
	for call := range calls.All[*ssa.Call](fn) {
		if client := r.made(call, r.of(call.Common())); client != nil {
			if f := r.fate(client); f.returned && !f.kept {
				c.Returns = true
				settings(call.Common().Args, r.of(call.Common()).Own)
			}
		}
	}
	if !requests.Handles(fn) && !c.Returns {
		for _, m := range r.makers(fn) {
			if !m.reported && !r.repeated(m) {
				c.Drops = true
				settings(m.settings, m.own)
			}
		}
	}
	return c
}
