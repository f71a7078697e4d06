package main

import (
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// sourceLines lists one file of a package.
func sourceLines(t *testing.T, source string) []string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, "p.go", "package p\n"+source, parser.SkipObjectResolution)
	require.NoError(t, err)
	config := types.Config{Importer: importer.ForCompiler(files, "source", nil)}
	pkg, err := config.Check("host.example/owner/sdk/p", files, []*ast.File{file}, nil)
	require.NoError(t, err)
	return linesOf(pkg)
}

func TestLines(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		source string
		lines  []string
	}{
		"what is private": {source: "type hidden struct{ Field int }\nfunc (hidden) Method() {}\nfunc do() {}\nvar x int\nconst c = 1"},
		"constants with their values": {
			"type Word string\nconst One Word = \"one\"\nconst Bare = 1 << 3",
			[]string{"const Bare untyped int = 8", `const One Word = "one"`, "type Word string"},
		},
		"functions without the names of parameters": {
			"func Do(first int, rest ...func(inner string) error) (result map[string]any, err error) { return }",
			[]string{"func Do(int, ...func(string) error) (map[string]any, error)"},
		},
		"fields with tags, and those of private embedded structs": {
			"type T struct {\n\tA int `json:\"a\" required:\"\"`\n\tb int\n\tinner\n\tOther\n}\ntype inner struct{ C bool }\ntype Other struct{}",
			[]string{"embedded T.Other Other", "field T.A int `json:\"a\"`", "field T.C bool", "type Other struct", "type T struct"},
		},
		"methods of values and of pointers, promoted ones too": {
			"type T struct{ inner }\nfunc (T) Value() {}\nfunc (*T) Pointer(n int) error { return nil }\ntype inner struct{}\nfunc (inner) Promoted() {}",
			[]string{"method (*T) Pointer(int) error", "method (T) Promoted()", "method (T) Value()", "type T struct"},
		},
		"whether a struct can be compared": {
			"type T struct{ f func() }", []string{"type T struct, not comparable"},
		},
		"an interface as a whole": {
			"type T interface { B(n int); A(); error }", []string{"type T interface{A(); B(int); error}"},
		},
		"type parameters": {
			"type T[K comparable, V ~int | ~string] map[K]V\nfunc Of[E error](e E) E { return e }\nfunc (t T[K, V]) Get(k K) V { return t[k] }",
			[]string{"func Of[E error](E) E", "method (T) Get(K) V", "type T[K comparable, V ~int | ~string] map[K]V"},
		},
		"aliases": {
			"type T = []string", []string{"type T = []string"},
		},
		"names of other packages": {
			"import \"text/scanner\"\nvar Default *scanner.Scanner", []string{"var Default *text/scanner.Scanner"},
		},
		"bare types in every place": {
			"type T struct{ F func(a []func(b int)) map[string]func(d int) }",
			[]string{"field T.F func([]func(int)) map[string]func(int)", "type T struct, not comparable"},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, strings.Join(c.lines, "\n"), strings.Join(sourceLines(t, c.source), "\n"))
		})
	}
}
