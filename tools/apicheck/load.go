package main

import (
	"context"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load returns the lines of the public packages of modules, in order. The code must compile.
func load(ctx context.Context, modules []string) ([]line, error) {
	var all []line
	for _, module := range modules {
		config := packages.Config{Context: ctx, Dir: module, Mode: packages.NeedName | packages.NeedImports | packages.NeedTypes}
		loaded, err := packages.Load(&config, "./...")
		if err != nil {
			return nil, err
		}
		for _, pkg := range loaded {
			if len(pkg.Errors) > 0 {
				return nil, pkg.Errors[0]
			}
			if pkg.Name == "main" || strings.Contains(pkg.PkgPath+"/", "/internal/") {
				continue
			}
			for _, text := range append([]string{wholePackage}, linesOf(pkg.Types)...) {
				all = append(all, line{pkg.PkgPath, text})
			}
		}
	}
	return all, nil
}
