package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// upwardImports lists packages below an internal folder that import the package that contains the folder. Tests may,
// and so may what they share below internal/tests.
func upwardImports(all []listed) []string {
	var faults []string
	for _, one := range all {
		for at := 0; ; {
			next := strings.Index(one.ImportPath[at:], "/internal/")
			if next < 0 {
				break
			}
			if strings.HasPrefix(one.ImportPath[at+next:], "/internal/tests/") {
				break
			}
			owner := one.ImportPath[:at+next]
			at += next + 1
			if slices.Contains(one.Imports, owner) {
				faults = append(faults, fmt.Sprintf("%s imports %s, which is above it", one.ImportPath, owner))
			}
		}
	}
	return faults
}

// picture draws the packages of the module that programs import, and what these need: a package stands above all that it
// imports. The commands and tests are left out.
func picture(all []listed) string {
	module := ""
	imports := make(map[string][]string)
	for _, one := range all {
		if one.Module == nil || !one.Module.Main || one.Name == "main" || strings.Contains(one.ImportPath, "/internal/tests") || strings.Contains(one.ImportPath, "/cmd/") {
			continue
		}
		module = one.Module.Path
		imports[one.ImportPath] = one.Imports
	}
	levels := make(map[string]int)
	var level func(path string) int
	level = func(path string) int {
		if _, known := levels[path]; !known {
			levels[path] = 0
			for _, imported := range imports[path] {
				if _, own := imports[imported]; own {
					levels[path] = max(levels[path], level(imported)+1)
				}
			}
		}
		return levels[path]
	}
	short := func(name string) string {
		if name == module {
			return path.Base(module)
		}
		return strings.TrimPrefix(name, module+"/")
	}
	names, widest := slices.Sorted(maps.Keys(imports)), 0
	for _, name := range names {
		level(name)
		widest = max(widest, len(short(name)))
	}
	slices.SortStableFunc(names, func(a, b string) int { return levels[b] - levels[a] })
	var drawn strings.Builder
	for i, name := range names {
		if i > 0 && levels[name] != levels[names[i-1]] {
			drawn.WriteByte('\n')
		}
		var needs []string
		for _, imported := range imports[name] {
			if _, own := imports[imported]; own {
				needs = append(needs, short(imported))
			}
		}
		line := fmt.Sprintf("%-*s -> %s", widest, short(name), strings.Join(needs, ", "))
		if needs == nil {
			line = short(name)
		}
		drawn.WriteString(line + "\n")
	}
	return drawn.String()
}
