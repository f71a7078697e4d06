package programs

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// declared returns the names that packages declare: "Config", "Config.Retry", "Retry" and "prepaid.Config", so that a name
// is found in every short form. Without all, it returns only exported names.
func declared(files []*ast.File, all bool) map[string]bool {
	names := map[string]bool{}
	for _, file := range files {
		add := func(owner, name string) {
			if !all && !ast.IsExported(name) {
				return
			}
			names[name] = true
			names[file.Name.Name+"."+name] = true
			if owner != "" {
				names[owner+"."+name] = true
				names[strings.TrimSuffix(owner, "Service")+"."+name] = true
			}
		}
		names[file.Name.Name] = true
		for _, declaration := range file.Decls {
			switch d := declaration.(type) {
			case *ast.FuncDecl:
				add(receiverOf(d), d.Name.Name)
			case *ast.GenDecl:
				for _, spec := range d.Specs {
					switch s := spec.(type) {
					case *ast.TypeSpec:
						add("", s.Name.Name)
						members(s.Type, func(name string) { add(s.Name.Name, name) })
					case *ast.ValueSpec:
						for _, name := range s.Names {
							add("", name.Name)
						}
					}
				}
			}
		}
	}
	return names
}

// receiverOf returns the name of a method's type; empty for a function.
func receiverOf(d *ast.FuncDecl) string {
	name := ""
	if d.Recv != nil {
		ast.Inspect(d.Recv.List[0].Type, func(n ast.Node) bool {
			if of, ok := n.(*ast.Ident); ok && name == "" {
				name = of.Name
			}
			return name == ""
		})
	}
	return name
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

// parsed returns the Go files in the directories and, with below, below them.
func parsed(t *testing.T, below bool, directories ...string) []*ast.File {
	t.Helper()
	var files []*ast.File
	for _, directory := range directories {
		require.NoError(t, filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && path != directory && (!below || entry.Name() == "testdata" || entry.Name()[0] == '.'):
				return filepath.SkipDir
			case entry.IsDir() || filepath.Ext(path) != ".go" || !below && strings.HasSuffix(path, "_test.go"):
				return nil
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.SkipObjectResolution)
			files = append(files, file)
			return err
		}))
	}
	return files
}

// publicNames has the exported names of the packages that the guides describe.
func publicNames(t *testing.T) map[string]bool {
	t.Helper()
	return declared(parsed(t, false, ".", "webhook", "journal", "journal/journalfile", "reconcile", "prepaidtest", "prepaidtest/conformance", "hostile",
		"contrib/redis", "contrib/otel", "contrib/postgres", "contrib/postgres/pgtest"), false)
}

// requireNames fails if code spans of the documents name something that is not in names, and returns how many names there are.
func requireNames(t *testing.T, names map[string]bool, isName func(code string) (string, bool), documents ...string) int {
	t.Helper()
	checked, unknown := 0, []string(nil)
	for _, document := range documents {
		text, err := os.ReadFile(document)
		require.NoError(t, err)
		page, _, _ := strings.Cut(string(text), inventedNames)
		for _, found := range codeSpan.FindAllStringSubmatch(fenced.ReplaceAllString(page, ""), -1) {
			if name, ok := isName(found[1]); ok {
				checked++
				if !knows(names, name) {
					unknown = append(unknown, document+": "+name)
				}
			}
		}
	}
	require.Empty(t, unknown, "no such names")
	return checked
}

var fenced = regexp.MustCompile("(?s)```.*?```")

// A Go name that a guide puts in code type exists: prepaid.Config, Config.Retry, client.Accounts.Issue, OutcomeUnknown.
func TestDocumentNamesExist(t *testing.T) {
	t.Parallel()
	atRoot(t)
	names := publicNames(t)
	for _, foreign := range []string{"AccessToken", "ExpiresIn", "TokenType", "ReadHeaderTimeout", "PosCredit"} { // of other packages, and of the wire
		names[foreign] = true
	}
	documents, err := filepath.Glob(filepath.Join("docs", "*.md"))
	require.NoError(t, err)
	require.Greater(t, requireNames(t, names, goName, append(documents, "README.md", "AGENTS.md")...), 500)
	for name, exists := range map[string]bool{
		"Config.Retries": false, "prepaid.Confog": false, "encodeOptions": false, "client.Accounts.Issue": true,
	} {
		require.Equal(t, exists, knows(names, name), name)
	}
}

// A Go name in code type in a document for contributors exists, exported or not: call.fail, longestWait. Each name with a
// dot in the path of a call exists too.
func TestDesignNamesExist(t *testing.T) {
	t.Parallel()
	atRoot(t)
	names := declared(parsed(t, true, "."), true)
	for _, foreign := range []string{
		"buildssa", "errors.As", "errors.AsType", "errors.Is", "context.Context", "http.Transport", "oauth2.Token", "wg.Go", "t.Context", "t.Parallel",
	} {
		names[foreign] = true
	}
	require.Greater(t, requireNames(t, names, anyName, "DESIGN.md", "CONTRIBUTING.md"), 40)
	text, err := os.ReadFile("DESIGN.md")
	require.NoError(t, err)
	for word := range strings.FieldsSeq(strings.Join(fenced.FindAllString(string(text), -1), "\n")) {
		if name, ok := anyName(strings.Trim(word, "(),:")); ok && strings.Contains(name, ".") {
			require.True(t, knows(names, name), name)
		}
	}
	require.False(t, knows(names, "call.succeed"))
}

// anyName returns the name in a piece of code, if it is a Go name and no file or word: it has a dot or a capital inside.
func anyName(code string) (string, bool) {
	code, _, _ = strings.Cut(strings.TrimLeft(code, "*&"), "(")
	isName := regexp.MustCompile(`^[A-Za-z]\w*(\.[A-Za-z]\w*)*$`).MatchString(code)
	isFile := slices.Contains([]string{".go", ".mod", ".sum", ".txt", ".md", ".yml"}, filepath.Ext(code))
	isMember := strings.Contains(code, "_") || strings.HasPrefix(code, "Test")
	return code, isName && !isFile && !isMember && regexp.MustCompile(`\.|[a-z]\d*[A-Z]`).MatchString(code)
}

// ownName matches names of this module: other packages' names, such as errors.Is, are not checked.
var ownName = regexp.MustCompile(
	`^((prepaid|prepaidotel|webhook|journal|journalfile|prepaidtest|conformance|prepaidredis|prepaidpg|pgtest|store|client|config|srv|server|params)\.)?([A-Z]\w*[a-z]\w*|PIN)(\.[A-Z]\w*)*$`)

// goName returns the name in a piece of code, if it is an exported Go name and nothing else: goName omits a call's
// arguments, a pointer's star and a leading variable.
func goName(code string) (string, bool) {
	code, _, _ = strings.Cut(strings.TrimLeft(code, "*&"), "(")
	if !ownName.MatchString(code) {
		return "", false
	}
	if !strings.Contains(code, ".") && !regexp.MustCompile(`[a-z]\d*[A-Z]`).MatchString(code) {
		return "", false // a capitalised word
	}
	if strings.HasPrefix(code, "Test") || strings.HasPrefix(code, "Example") || strings.HasPrefix(code, "Fuzz") {
		return "", false // TestPromisesHaveTheirTests looks for those of DESIGN.md
	}
	return code, true
}

// knows looks for the whole name and, if it begins with a variable or a field, for each pair in it.
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
