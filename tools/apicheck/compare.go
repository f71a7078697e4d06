package main

import (
	"fmt"
	"path"
	"regexp"
	"strings"
)

var quoted = regexp.MustCompile("`([^`]+)`")

// unnamed returns a fault for each incompatible change that the latest section of the changelog does not name. The name
// of a removed or changed type covers its members, and that of a removed package everything in it.
func unnamed(broken []line, changelog string) []string {
	_, section, _ := strings.Cut("\n"+changelog, "\n## ")
	section, _, _ = strings.Cut(section, "\n## ")
	named := make(map[string]bool)
	for _, match := range quoted.FindAllStringSubmatch(section, -1) {
		named[match[1]] = true
	}
	gone := make(map[line]bool) // types and packages, by name
	for _, l := range broken {
		if strings.HasPrefix(l.text, "type ") || l.text == wholePackage {
			gone[line{l.pkg, l.name()}] = true
		}
	}
	var faults []string
	for _, l := range broken {
		pkg := path.Base(l.pkg)
		owner, _, _ := strings.Cut(l.name(), ".")
		known := named[l.name()] || named[pkg+"."+l.name()]
		for _, whole := range []string{owner, pkg} {
			known = known || gone[line{l.pkg, whole}] && (named[whole] || named[pkg+"."+whole])
		}
		if !known {
			faults = append(faults, fmt.Sprintf("CHANGELOG.md: the latest section does not name %#q, which changed incompatibly", l.name()))
		}
	}
	return faults
}
