package main

import (
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"
)

// upwardImports lists packages that import the package whose internal folder they are in. Tests
// and their shared packages below internal/tests may do so.
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

// picture draws the packages of the module that programs import, and their dependencies: a package is drawn above the packages that
// it imports. The emulator shares nothing with the client and has its own picture. Commands and tests are left out.
func picture(all []listed) string {
	client, emulator := make(map[string][]string), make(map[string][]string)
	for _, one := range all {
		switch {
		case one.Module == nil || !one.Module.Main || one.Name == "main" || len(one.GoFiles) == 0 && len(one.XTestGoFiles) > 0,
			strings.Contains(one.ImportPath, "/internal/tests") || strings.Contains(one.ImportPath, "/cmd/"):
		case strings.Contains(one.ImportPath, "/prepaidtest"):
			emulator[one.ImportPath] = one.Imports
		default:
			client[one.ImportPath] = one.Imports
		}
	}
	if len(emulator) == 0 {
		return draw(client)
	}
	return draw(client) + "\n" + strings.Repeat("-", lineWidth) + "\n\n" + draw(emulator)
}

// lineWidth is the maximum width of a line.
const lineWidth = 120

// draw draws packages. imports has an element for each package: the packages that this package imports.
func draw(imports map[string][]string) string {
	levels := make(map[string]int)
	var level func(name string) int
	level = func(name string) int {
		if _, known := levels[name]; !known {
			levels[name] = 0
			for _, imported := range imports[name] {
				if _, drawn := imports[imported]; drawn {
					levels[name] = max(levels[name], level(imported)+1)
				}
			}
		}
		return levels[name]
	}
	names, widest := slices.Sorted(maps.Keys(imports)), 0
	for _, name := range names {
		level(name)
		widest = max(widest, len(path.Base(name)))
	}
	slices.SortStableFunc(names, func(a, b string) int { return levels[b] - levels[a] })
	var drawn strings.Builder
	for i, name := range names {
		if i > 0 && levels[name] != levels[names[i-1]] {
			drawn.WriteByte('\n')
		}
		line, arrow := fmt.Sprintf("%-*s", widest, path.Base(name)), " -> "
		for _, imported := range imports[name] {
			if _, ok := imports[imported]; !ok {
				continue
			}
			if len(line)+len(arrow)+len(path.Base(imported)) > lineWidth {
				drawn.WriteString(line + ",\n")
				line, arrow = strings.Repeat(" ", widest), "    "
			}
			line, arrow = line+arrow+path.Base(imported), ", "
		}
		drawn.WriteString(strings.TrimRight(line, " ") + "\n")
	}
	return drawn.String()
}
