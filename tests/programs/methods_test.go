package programs

import (
	"go/ast"
	"go/doc"
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid"
	"github.com/cardprograms/prepaid/internal/reference"
)

// The reference page shows a running example for each method of the client and its services, thus for each operation.
func TestEveryMethodHasAnExample(t *testing.T) {
	t.Parallel()
	atRoot(t)
	shown := methodsWithOutput(packageWithExamples(t, "."))

	client := reflect.TypeFor[*prepaid.Client]()
	types := map[string]string{} // of the services, by field
	wanted := methodNames(client)
	for field := range client.Elem().Fields() {
		if field.IsExported() {
			types[field.Name] = field.Type.Elem().Name()
			wanted = append(wanted, methodNames(field.Type)...)
		}
	}
	all := reference.Read().Operations
	for _, op := range all {
		service, method, ok := strings.Cut(op.Name, ".")
		if !ok {
			service, method = "Client", op.Name
		} else {
			require.Contains(t, types, service)
			service = types[service]
		}
		wanted = append(wanted, service+"."+method)
	}
	for _, name := range wanted {
		require.True(t, shown[name], "%s has no example with an Output comment: add Example%s", name, strings.Replace(name, ".", "_", 1))
	}
}

// methodNames lists the methods of a type as Type.Method, except those that print it.
func methodNames(of reflect.Type) []string {
	var names []string
	for method := range of.Methods() {
		if method.Name != "Format" && method.Name != "LogValue" {
			names = append(names, of.Elem().Name()+"."+method.Name)
		}
	}
	return names
}

// methodsWithOutput returns the methods under which a reference page shows an example that is run.
func methodsWithOutput(page *doc.Package) map[string]bool {
	shown := map[string]bool{}
	for _, kind := range page.Types {
		for _, method := range kind.Methods {
			if runs(method.Examples) {
				shown[kind.Name+"."+method.Name] = true
			}
		}
	}
	return shown
}

// Each function of the packages that partners import has a running example: its own, or an example of its result's type.
func TestEveryFunctionHasAnExample(t *testing.T) {
	t.Parallel()
	atRoot(t)
	for _, directory := range []string{".", "webhook", "journal", filepath.Join("journal", "journalfile"), filepath.Join("prepaidtest", "conformance")} {
		page := packageWithExamples(t, directory)
		for _, function := range page.Funcs {
			require.True(t, runs(function.Examples), "%s: %s has no example with an Output comment", directory, function.Name)
		}
		for _, kind := range page.Types {
			for _, function := range kind.Funcs {
				shown := runs(function.Examples) || runs(kind.Examples)
				for _, method := range kind.Methods {
					shown = shown || runs(method.Examples)
				}
				require.True(t, shown, "%s: neither %s nor %s has an example with an Output comment", directory, function.Name, kind.Name)
			}
		}
	}
}

// Each example has a sentence on its subject.
func TestEveryExampleSaysWhatItShows(t *testing.T) {
	t.Parallel()
	atRoot(t)
	for _, directory := range []string{
		".", "webhook", "journal", filepath.Join("journal", "journalfile"), "prepaidtest", "hostile", filepath.Join("contrib", "otel"), filepath.Join("contrib", "redis"),
		filepath.Join("contrib", "vcr"), filepath.Join("contrib", "postgres"), filepath.Join("contrib", "postgres", "pgtest"),
	} {
		_, files := parsedWithComments(t, filepath.Join(directory, "*_test.go"))
		examples := doc.Examples(files...)
		require.NotEmpty(t, examples, directory)
		for _, example := range examples {
			require.NotEmpty(t, example.Doc, "%s: Example%s has no comment that says what it shows", directory, example.Name)
		}
	}
}

func runs(examples []*doc.Example) bool {
	for _, example := range examples {
		if example.Output != "" || example.EmptyOutput {
			return true
		}
	}
	return false
}

// packageWithExamples reads the documentation of a package as its reference page shows it.
func packageWithExamples(t *testing.T, directory string) *doc.Package {
	t.Helper()
	set, files := parsedWithComments(t, filepath.Join(directory, "*.go"))
	page, err := doc.NewFromFiles(set, files, "example")
	require.NoError(t, err)
	return page
}

func parsedWithComments(t *testing.T, pattern string) (*token.FileSet, []*ast.File) {
	t.Helper()
	paths, err := filepath.Glob(pattern)
	require.NoError(t, err)
	set := token.NewFileSet()
	var files []*ast.File
	for _, path := range paths {
		file, err := parser.ParseFile(set, path, nil, parser.ParseComments|parser.SkipObjectResolution)
		require.NoError(t, err)
		files = append(files, file)
	}
	return set, files
}
