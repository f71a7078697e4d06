package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"strings"
)

// addModule adds the public packages of the module in directory. The types come from the compiler's export data, so the
// code must compile.
func (l listing) addModule(ctx context.Context, directory string) error {
	command := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-json=ImportPath,Name,Export,Module", "./...")
	command.Dir = directory
	var problems bytes.Buffer
	command.Stderr = &problems
	printed, err := command.Output()
	if err != nil {
		return fmt.Errorf("go list: %w: %s", err, problems.String())
	}
	exports := make(map[string]string)
	var public []string
	for decoder := json.NewDecoder(bytes.NewReader(printed)); ; {
		var p struct {
			ImportPath, Name, Export string
			Module                   *struct{ Main bool }
		}
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
		exports[p.ImportPath] = p.Export
		if p.Module != nil && p.Module.Main && p.Name != "main" && !strings.Contains(p.ImportPath+"/", "/internal/") {
			public = append(public, p.ImportPath)
		}
	}
	open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
	load := importer.ForCompiler(token.NewFileSet(), "gc", open)
	for _, path := range public {
		pkg, err := load.Import(path)
		if err != nil {
			return err
		}
		l[path] = linesOf(pkg)
	}
	return nil
}
