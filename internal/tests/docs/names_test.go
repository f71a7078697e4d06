package docs

import (
	"go/ast"
	"go/doc"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// publicNames has the public names of the packages that the guides speak of: "Config", "Config.Retry", "Retry" and
// "prepaid.Config" alike, so that a name is found however a text shortens it.
func publicNames(t *testing.T) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	for _, directory := range []string{
		".", "webhook", "journal", "prepaidtest", filepath.Join("prepaidtest", "conformance"), filepath.Join("prepaidtest", "hostile"),
		filepath.Join("contrib", "redis"), filepath.Join("contrib", "otel"), filepath.Join("contrib", "postgres"),
		filepath.Join("contrib", "postgres", "pgtest"),
	} {
		maps.Copy(names, namesIn(t, packageWithExamples(t, directory)))
	}
	return names
}

func namesIn(t *testing.T, page *doc.Package) map[string]bool {
	t.Helper()
	names := map[string]bool{}
	add := func(owner, name string) {
		names[name] = true
		names[page.Name+"."+name] = true
		if owner != "" {
			names[owner+"."+name] = true
			names[strings.TrimSuffix(owner, "Service")+"."+name] = true
		}
	}
	values := func(all []*doc.Value) {
		for _, value := range all {
			for _, name := range value.Names {
				add("", name)
			}
		}
	}
	values(page.Consts)
	values(page.Vars)
	for _, function := range page.Funcs {
		add("", function.Name)
	}
	for _, kind := range page.Types {
		add("", kind.Name)
		values(kind.Consts)
		values(kind.Vars)
		for _, function := range kind.Funcs {
			add("", function.Name)
		}
		for _, method := range kind.Methods {
			add(kind.Name, method.Name)
		}
		for _, spec := range kind.Decl.Specs {
			members(spec.(*ast.TypeSpec).Type, func(name string) { add(kind.Name, name) })
		}
	}
	return names
}

// members calls found with each field of a struct and each method of an interface.
func members(of ast.Expr, found func(name string)) {
	var list *ast.FieldList
	switch of := of.(type) {
	case *ast.StructType:
		list = of.Fields
	case *ast.InterfaceType:
		list = of.Methods
	default:
		return
	}
	for _, field := range list.List {
		for _, name := range field.Names {
			found(name.Name)
		}
	}
}

// A Go name that a guide puts in code type exists: prepaid.Config, Config.Retry, client.Accounts.Issue, OutcomeUnknown.
func TestDocumentNamesExist(t *testing.T) {
	t.Parallel()
	atRoot(t)
	names := publicNames(t)
	for _, foreign := range []string{"AccessToken", "ExpiresIn", "ReadHeaderTimeout", "PosCredit"} { // of others, and of the wire
		names[foreign] = true
	}
	documents, err := filepath.Glob(filepath.Join("docs", "*.md"))
	require.NoError(t, err)
	fenced := regexp.MustCompile("(?s)```.*?```")
	checked, unknown := 0, []string(nil)
	for _, document := range append(documents, "README.md", "AGENTS.md") {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		page, _, _ := strings.Cut(string(text), inventedNames)
		for _, found := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
			name, ok := goName(found[1])
			if !ok {
				continue
			}
			checked++
			if !knows(names, name) {
				unknown = append(unknown, document+": "+name)
			}
		}
	}
	require.Empty(t, unknown, "no such names")
	require.Greater(t, checked, 500)
	require.False(t, knows(names, "Config.Retries"))
	require.False(t, knows(names, "prepaid.Confog"))
	require.True(t, knows(names, "client.Accounts.Issue"))
}

// ownName is a name of ours: one of another package, such as errors.Is, is not looked for.
var ownName = regexp.MustCompile(
	`^((prepaid|prepaidotel|webhook|journal|prepaidtest|conformance|prepaidredis|prepaidpg|pgtest|store|client|config|srv|server|params)\.)?([A-Z]\w*[a-z]\w*|PIN)(\.[A-Z]\w*)*$`)

// goName returns what a piece of code names, if it is a public Go name and nothing else: a call's arguments, a pointer's
// star and a leading variable are left out.
func goName(code string) (string, bool) {
	code, _, _ = strings.Cut(strings.TrimLeft(code, "*&"), "(")
	if !ownName.MatchString(code) {
		return "", false
	}
	if !strings.Contains(code, ".") && !regexp.MustCompile(`[a-z]\d*[A-Z]`).MatchString(code) {
		return "", false // a word that begins with a capital
	}
	if strings.HasPrefix(code, "Test") || strings.HasPrefix(code, "Example") || strings.HasPrefix(code, "Fuzz") {
		return "", false // TestPromisesHaveTheirTests looks for those of DESIGN.md
	}
	return code, true
}

// knows looks for the whole name and, when a variable or a field stands in front, for each pair in it.
func knows(names map[string]bool, name string) bool {
	if names[name] {
		return true
	}
	first, rest, dotted := strings.Cut(name, ".")
	if !dotted {
		return false
	}
	switch first {
	case "client", "config", "srv", "server", "params", "store": // a variable of the text
		return knows(names, rest)
	case "Accounts", "Policy", "Reporting", "Funding", "Simulation", "PIN", "Hooks":
		return names[first+"Service."+rest] || names[name]
	case "Retry":
		return names["RetryPolicy."+rest]
	}
	if second, deeper, more := strings.Cut(rest, "."); more {
		return names[first+"."+second] && knows(names, second+"."+deeper)
	}
	return false
}
