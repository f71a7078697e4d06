package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
)

// pkg is one package, with the names that its files use from one another.
type pkg struct {
	lines     map[string]int
	generated map[string]bool
	testFiles int
	arrows    map[string]map[string][]string // by file and used file, the names that the first uses: functions, types, fields …
}

// listed is a package as go list prints it.
type listed struct {
	ImportPath, Name, Dir, Export string
	GoFiles, Imports              []string
	TestGoFiles                   []string
	XTestGoFiles                  []string
	Module                        *struct {
		Path string
		Main bool
	}
}

func list(ctx context.Context, arguments ...string) ([]listed, error) {
	command := exec.CommandContext(ctx, "go", append([]string{"list", "-json"}, arguments...)...) //nolint:gosec // our own arguments
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w: %s", err, problems.String())
	}
	var all []listed
	for decoder := json.NewDecoder(bytes.NewReader(printed)); ; {
		var one listed
		if err := decoder.Decode(&one); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		all = append(all, one)
	}
}

// load reads the package in the working directory with its types. The types of imported packages come from the compiler's export data.
func load(ctx context.Context) (*pkg, error) {
	all, err := list(ctx, "-export", "-deps", ".")
	if err != nil {
		return nil, err
	}
	exports := make(map[string]string, len(all))
	for _, one := range all {
		exports[one.ImportPath] = one.Export
	}
	target := all[len(all)-1] // go list prints dependencies first
	p := &pkg{
		lines: make(map[string]int), generated: make(map[string]bool), testFiles: len(target.TestGoFiles) + len(target.XTestGoFiles),
		arrows: make(map[string]map[string][]string),
	}
	set := token.NewFileSet()
	files := make([]*ast.File, len(target.GoFiles))
	for i, name := range target.GoFiles {
		if files[i], err = parser.ParseFile(set, filepath.Join(target.Dir, name), nil, parser.ParseComments|parser.SkipObjectResolution); err != nil {
			return nil, err
		}
		p.lines[name] = set.File(files[i].Pos()).LineCount()
		p.generated[name] = ast.IsGenerated(files[i])
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	config := types.Config{Importer: importer.ForCompiler(set, "gc", open)}
	info := &types.Info{Uses: make(map[*ast.Ident]types.Object)}
	checked, err := config.Check(target.ImportPath, set, files, info)
	if err != nil {
		return nil, err
	}
	for use, object := range info.Uses {
		if object.Pkg() == checked && object.Pos().IsValid() {
			p.add(filepath.Base(set.Position(use.Pos()).Filename), filepath.Base(set.Position(object.Pos()).Filename), object.Name())
		}
	}
	return p, nil
}

func (p *pkg) add(from, to, name string) {
	if from == to {
		return
	}
	if p.arrows[from] == nil {
		p.arrows[from] = make(map[string][]string)
	}
	if !slices.Contains(p.arrows[from][to], name) {
		p.arrows[from][to] = append(p.arrows[from][to], name)
	}
}
