package main

import (
	"fmt"
	"regexp"
	"strings"
)

var (
	apiLine    = regexp.MustCompile(`\bAPI: (GET|POST|PUT|PATCH|DELETE) /`)
	safetyLine = regexp.MustCompile(`\bSafety: |\bsafety: as `)
)

// commentFaults lists public names whose comment is missing or does not start with the name. A service method's comment
// must also name the request and its safety class.
func commentFaults(symbols []symbol) []string {
	var faults []string
	for _, s := range symbols {
		fault := func(rule string) {
			faults = append(faults, fmt.Sprintf("%s: %s %s %s", s.position, s.kind, s.name, rule))
		}
		switch {
		case s.doc == "":
			fault("has no doc comment")
		case s.kind != kindPackage && !startsWith(s.doc, s.base()):
			fault("has a doc comment that does not start with its name")
		case s.calls:
			if !apiLine.MatchString(s.doc) {
				fault(`has no "API: METHOD /path" in its doc comment`)
			}
			if !safetyLine.MatchString(s.doc) {
				fault(`has neither "Safety:" nor "safety: as" in its doc comment`)
			}
		}
	}
	return faults
}

// startsWith reports whether the first word of doc, after an article, is name.
func startsWith(doc, name string) bool {
	for _, article := range [...]string{"", "A ", "An ", "The "} {
		rest, ok := strings.CutPrefix(doc, article+name)
		if ok && (rest == "" || strings.ContainsAny(rest[:1], " :,'.")) {
			return true
		}
	}
	return false
}
