package main

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// symbolsOf parses the file of one package.
func symbolsOf(t *testing.T, source string, prefixed bool) []symbol {
	t.Helper()
	c := &collector{files: token.NewFileSet()}
	file, err := parser.ParseFile(c.files, "x.go", source, parser.ParseComments|parser.SkipObjectResolution)
	require.NoError(t, err)
	c.collect([]*ast.File{file}, prefixed)
	return c.symbols
}

const sample = `
// Package sample is here.
package sample

// Plain and
// two lines.
type Plain struct {
	// ID is one.
	ID, Other string ` + "`json:\"id,omitzero\" redact:\"x\"`" + `
	Hidden int ` + "`json:\"-\"`" + `
	secret int
	Inner struct {
		// Deep is nested.
		Deep bool
	}
	*Embedded
}

// Word is text.
type Word string

// The words.
const (
	// WordOne is one.
	WordOne Word = "one"
	WordTwo Word = "two"
	wordThree Word = "three"
)

// Limit stands alone.
const Limit = 10

// Maker makes.
type Maker[T any] interface {
	// Make makes one.
	Make() T
	Break()
}

// Run runs.
func (p *Plain) Run() {}

func (p Page[T]) Turn() {}

func (h hidden) Public() {}

// Do does.
func Do() {}
`

func TestSymbols(t *testing.T) {
	t.Parallel()
	type brief struct {
		kind                   kind
		name, owner, doc, wire string
	}
	var got []brief
	for _, s := range symbolsOf(t, sample, false) {
		require.True(t, s.position.IsValid(), s.name)
		got = append(got, brief{s.kind, s.name, s.owner, s.doc, s.wire})
	}
	require.Equal(t, []brief{
		{kindPackage, "sample", "", "Package sample is here.", ""},
		{kindType, "Plain", "", "Plain and two lines.", ""},
		{kindField, "Plain.ID", "Plain", "ID is one.", "id"},
		{kindField, "Plain.Other", "Plain", "ID is one.", "id"},
		{kindField, "Plain.Hidden", "Plain", "", ""},
		{kindField, "Plain.Inner", "Plain", "", ""},
		{kindField, "Plain.Inner.Deep", "Plain.Inner", "Deep is nested.", ""},
		{kindField, "Plain.Embedded", "Plain", "", ""},
		{kindType, "Word", "", "Word is text.", ""},
		{kindConstant, "WordOne", "Word", "WordOne is one.", "one"},
		{kindConstant, "WordTwo", "Word", "", "two"},
		{kindConstant, "Limit", "", "Limit stands alone.", "10"},
		{kindType, "Maker", "", "Maker makes.", ""},
		{kindMethod, "Maker.Make", "Maker", "Make makes one.", ""},
		{kindMethod, "Maker.Break", "Maker", "", ""},
		{kindMethod, "Plain.Run", "Plain", "Run runs.", ""},
		{kindMethod, "Page.Turn", "Page", "", ""},
		{kindFunction, "Do", "", "Do does.", ""},
	}, got)
}

func TestSymbolsOfAnotherPackageArePrefixed(t *testing.T) {
	t.Parallel()
	var names []string
	for _, s := range symbolsOf(t, "package other\n\ntype T struct{ F int }\n\nfunc (T) M() {}\n", true) {
		names = append(names, s.name+" of "+s.owner)
	}
	require.Equal(t, []string{"other of ", "other.T of ", "other.T.F of other.T", "other.T.M of other.T"}, names)
}

func TestReadPackage(t *testing.T) {
	t.Parallel()
	write := func(directory, name, source string) {
		require.NoError(t, os.WriteFile(filepath.Join(directory, name), []byte(source), 0o600))
	}
	directory := t.TempDir()
	_, err := readPackage(directory, false)
	require.ErrorContains(t, err, "no Go files")

	write(directory, "a.go", "package p\n\nfunc A() {}\n")
	write(directory, "b.go", "// Package p is here.\npackage p\n\nfunc B() {}\n")
	write(directory, "b_test.go", "package p\n\nfunc InTests() {}\n")
	symbols, err := readPackage(directory, false)
	require.NoError(t, err)
	require.Len(t, symbols, 3)
	require.Equal(t, "Package p is here.", symbols[0].doc, "the comment of any file counts")

	write(directory, "c.go", "package p\n\nfunc {")
	_, err = readPackage(directory, false)
	require.Error(t, err)
}
