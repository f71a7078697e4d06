package calls

import (
	"go/types"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/ssa"
)

var (
	// loggers are packages whose functions all log their arguments, or put them into a field of a log record or a span.
	loggers = []string{
		"log/slog", "go.uber.org/zap", "go.uber.org/zap/zapcore", "github.com/sirupsen/logrus", "github.com/rs/zerolog", "github.com/rs/zerolog/log",
		"github.com/go-logr/logr", "github.com/hashicorp/go-hclog", "github.com/golang/glog", "k8s.io/klog", "k8s.io/klog/v2",
		"github.com/charmbracelet/log", "github.com/apex/log", "github.com/go-kit/log", "github.com/go-kit/log/level", "go.opentelemetry.io/otel/attribute",
	}
	// verb matches the names of functions that log, if the function's type or package is named for logs.
	verb = regexp.MustCompile(`^(Debug|Info|Warn|Warning|Error|Fatal|Panic|Print|Log|Trace|Output)(f|ln|w|S|Context|Ctx|Depth|fContext)?$`)
	// logs matches the path of a package that logs.
	logs = regexp.MustCompile(`(^|/)([a-z]{0,2}log|logs|logger|logging)(/v[0-9]+)?$`)
)

// Logs reports whether a function logs its arguments.
func Logs(callee *types.Func) bool {
	if callee == nil || callee.Pkg() == nil {
		return false
	}
	path := callee.Pkg().Path()
	if slices.Contains(loggers, path) {
		return true
	}
	typ := ""
	if recv := callee.Signature().Recv(); recv != nil {
		typ = types.TypeString(recv.Type(), func(*types.Package) string { return "" })
	}
	return verb.MatchString(callee.Name()) && (strings.Contains(strings.ToLower(typ), "log") || logs.MatchString(path))
}

// stores are the names of functions that store something for a later run.
var stores = regexp.MustCompile(`(?i)^(exec|save|insert|update|upsert|put|store|write|append|record|persist|mark|set|add|complete|finish)`)

// Writes reports whether a call stores something. The name of the function decides.
func Writes(common *ssa.CallCommon) bool {
	callee := Callee(common)
	if callee == nil || callee.Pkg() == nil || Logs(callee) || Pure(callee) {
		return false
	}
	path := path(callee.Pkg())
	return path != "sync" && path != "net/http" && path != "sync/atomic" && !strings.Contains(path, "metric") && !strings.Contains(path, "prometheus") && stores.MatchString(callee.Name())
}
