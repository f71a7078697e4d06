package secret

import (
	"strings"

	"golang.org/x/tools/go/ssa"

	"github.com/cardprograms/prepaid/contrib/vet/internal/calls"
)

var (
	// failures are functions that make an error of their arguments.
	failures = []string{
		"errors.New", "fmt.Errorf", "github.com/pkg/errors.New", "github.com/pkg/errors.Errorf", "github.com/pkg/errors.Wrap", "github.com/pkg/errors.Wrapf",
		"github.com/pkg/errors.WithMessage", "github.com/pkg/errors.WithMessagef", "golang.org/x/xerrors.New", "golang.org/x/xerrors.Errorf",
	}
	// texted are functions whose result contains the whole text of each argument, unlike functions that cut, hash or replace.
	texted = []string{
		"fmt.Sprint", "fmt.Sprintf", "fmt.Sprintln", "fmt.Append", "fmt.Appendf", "fmt.Appendln", "strings.Join", "strings.TrimSpace", "strings.ToUpper",
		"strings.ToLower", "strings.Clone", "strings.Repeat", "bytes.Clone", "bytes.TrimSpace", "strconv.Quote", "net/url.QueryEscape", "net/url.PathEscape",
		"encoding/hex.EncodeToString", "(*encoding/base64.Encoding).EncodeToString",
	}
)

// sink is the destination of a call that prints, or "".
func sink(common *ssa.CallCommon) string {
	if builtin, ok := common.Value.(*ssa.Builtin); ok {
		if builtin.Name() == "print" || builtin.Name() == "println" {
			return builtin.Name()
		}
		return ""
	}
	callee := calls.Callee(common)
	if callee == nil || callee.Pkg() == nil {
		return ""
	}
	path := callee.Pkg().Path()
	switch {
	case calls.Calls(common, failures):
		return "an error (" + name(callee) + ")"
	case path == "fmt" && strings.HasPrefix(callee.Name(), "Print"):
		return name(callee)
	case path == "fmt" && strings.HasPrefix(callee.Name(), "Fprint") && standard(common.Args[0]):
		return name(callee)
	case path == "testing", path == "fmt", strings.HasPrefix(callee.Name(), "New"):
		return ""
	}
	if calls.Logs(callee) {
		return "a log (" + name(callee) + ")"
	}
	return ""
}

// standard reports whether a writer is standard output or error.
func standard(writer ssa.Value) bool {
	boxed, ok := writer.(*ssa.MakeInterface)
	if !ok {
		return false
	}
	load, ok := boxed.X.(*ssa.UnOp)
	if !ok {
		return false
	}
	global, ok := load.X.(*ssa.Global)
	return ok && global.Pkg.Pkg.Path() == "os" && (global.Name() == "Stdout" || global.Name() == "Stderr")
}

// passes reports whether the result of a call has the text of its arguments.
func passes(common *ssa.CallCommon) bool {
	if builtin, ok := common.Value.(*ssa.Builtin); ok {
		return builtin.Name() == "append"
	}
	return calls.Calls(common, texted)
}

// writes is the writer to which a call writes its argument, or nil.
func writes(common *ssa.CallCommon, arg int) ssa.Value {
	callee := calls.Callee(common)
	if callee == nil || callee.Pkg() == nil || arg == 0 {
		return nil
	}
	switch path := callee.Pkg().Path(); {
	case path == "fmt" && strings.HasPrefix(callee.Name(), "Fprint"), path == "io" && callee.Name() == "WriteString":
		return common.Args[0]
	case (path == "strings" || path == "bytes") && strings.HasPrefix(callee.Name(), "Write"):
		return common.Args[0]
	}
	return nil
}
