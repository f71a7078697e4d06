package main

import (
	"bytes"
	"context"
	"fmt"
	"go/importer"
	"go/token"
	"io"
	"os"
	"os/exec"
	"strings"
)

// load returns the lines of the public packages of modules, in order. The types come from the compiler's export data, so the code
// must compile.
func load(ctx context.Context, modules []string) ([]line, error) {
	const format = "{{.ImportPath}}\t{{.Export}}\t{{and .Module (ne .Name `main`) .Module.Main}}"
	var all []line
	for _, module := range modules {
		command := exec.CommandContext(ctx, "go", "list", "-export", "-deps", "-f", format, "./...")
		var problems bytes.Buffer
		command.Dir, command.Stderr = module, &problems
		printed, err := command.Output()
		if err != nil {
			return nil, fmt.Errorf("go list in %s: %w: %s", module, err, problems.String())
		}
		exports := make(map[string]string)
		var public []string
		for text := range strings.Lines(string(printed)) {
			fields := strings.Split(strings.TrimSpace(text), "\t")
			exports[fields[0]] = fields[1]
			if fields[2] == "true" && !strings.Contains(fields[0]+"/", "/internal/") {
				public = append(public, fields[0])
			}
		}
		open := func(path string) (io.ReadCloser, error) { return os.Open(exports[path]) }
		from := importer.ForCompiler(token.NewFileSet(), "gc", open)
		for _, path := range public {
			pkg, err := from.Import(path)
			if err != nil {
				return nil, err
			}
			all = append(all, line{path, wholePackage})
			for _, text := range linesOf(pkg) {
				all = append(all, line{path, text})
			}
		}
	}
	return all, nil
}
