package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// difference lists the changes since the listing was written.
type difference struct{ removed, added []line }

func compare(before, now listing) difference {
	return difference{removed: missing(before, now), added: missing(now, before)}
}

// wholePackage stands for all lines of an added or removed package.
const wholePackage = "(the whole package)"

// missing returns the lines of listing a that listing b does not have.
func missing(a, b listing) []line {
	var lines []line
	for pkg, texts := range a {
		others, there := b[pkg]
		if !there {
			lines = append(lines, line{pkg, wholePackage})
			continue
		}
		for _, text := range texts {
			if _, found := slices.BinarySearch(others, text); !found {
				lines = append(lines, line{pkg, text})
			}
		}
	}
	sortLines(lines)
	return lines
}

func sortLines(lines []line) {
	slices.SortFunc(lines, func(a, b line) int {
		return strings.Compare(a.pkg+"\n"+a.text, b.pkg+"\n"+b.text)
	})
}

func (d difference) faults() []string {
	var faults []string
	for _, l := range d.removed {
		faults = append(faults, fmt.Sprintf("INCOMPATIBLE: %s no longer has: %s", l.pkg, l.text))
	}
	for _, l := range d.added {
		faults = append(faults, fmt.Sprintf("new, not listed: %s has: %s", l.pkg, l.text))
	}
	return faults
}

// stillBroken returns the lines of broken, each once, except those that the code has again: a restored line is no longer broken.
func stillBroken(broken []line, now listing) []line {
	sortLines(broken)
	return slices.DeleteFunc(slices.Compact(broken), func(l line) bool {
		texts, there := now[l.pkg]
		_, found := slices.BinarySearch(texts, l.text)
		return found || there && l.text == wholePackage
	})
}

var (
	quoted     = regexp.MustCompile("`([^`]+)`")
	nameInLine = regexp.MustCompile(`^(?:method \(\*?(\w+)\) (\w+)|\w+ (\w+(?:\.\w+)?))`)
)

// latestSection returns the section under the first second-level heading.
func latestSection(changelog string) string {
	_, section, _ := strings.Cut("\n"+changelog, "\n## ")
	section, _, _ = strings.Cut(section, "\n## ")
	return section
}

// unnamed returns a fault for each incompatible change that the latest section of the changelog does not name. The name
// of a removed or changed type covers its members, too.
func unnamed(broken []line, path, changelog string) []string {
	named := make(map[string]bool)
	for _, match := range quoted.FindAllStringSubmatch(latestSection(changelog), -1) {
		named[match[1]] = true
	}
	gone := make(map[line]bool)
	for _, l := range broken {
		if strings.HasPrefix(l.text, "type ") {
			gone[line{l.pkg, l.name()}] = true
		}
	}
	var faults []string
	for _, l := range broken {
		name := l.name()
		owner, _, _ := strings.Cut(name, ".")
		pkg := l.pkg[strings.LastIndex(l.pkg, "/")+1:]
		known := named[name] || named[pkg+"."+name]
		if gone[line{l.pkg, owner}] {
			known = known || named[owner] || named[pkg+"."+owner]
		}
		if !known {
			faults = append(faults, fmt.Sprintf("%s: the latest section does not name %#q, which changed incompatibly: %s had: %s", path, name, l.pkg, l.text))
		}
	}
	return faults
}

// name returns the changelog's name for the line's subject: "Config", "Config.Timeout", "AccountsService.Get".
func (l line) name() string {
	match := nameInLine.FindStringSubmatch(l.text)
	switch {
	case match == nil:
		return l.pkg[strings.LastIndex(l.pkg, "/")+1:]
	case match[1] != "":
		return match[1] + "." + match[2]
	}
	return match[3]
}
