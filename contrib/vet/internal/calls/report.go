package calls

import (
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const directive = "//prepaidvet:ignore"

type line struct {
	file string
	line int
}

// ignore is a comment that suppresses a report on its line or the next.
type ignore struct{ rule, reason string }

// Report reports a finding of a rule, with the address of the guide. Findings in tests are not reported: the money in
// tests is fictional. A comment "//prepaidvet:ignore RULE REASON" on the line or the line above suppresses the report, if
// it has a reason.
func (r *Result) Report(pass *analysis.Pass, d analysis.Diagnostic) {
	position := pass.Fset.Position(d.Pos)
	if strings.HasSuffix(position.Filename, "_test.go") {
		return
	}
	rule := pass.Analyzer.Name
	d.Category = rule
	d.URL = r.Model.Guide + "#" + rule
	d.Message += ": " + d.URL
	for _, at := range []int{position.Line, position.Line - 1} {
		for _, found := range r.ignored[line{position.Filename, at}] {
			if found.rule == rule && found.reason != "" {
				return
			}
		}
	}
	pass.Report(d)
}

// Reportf reports a message at a position.
func (r *Result) Reportf(pass *analysis.Pass, pos token.Pos, message string) {
	r.Report(pass, analysis.Diagnostic{Pos: pos, Message: message})
}

// ignores stores the comments that suppress reports, by the last line of their group: a group may name several rules. It runs
// before the rules, which run concurrently.
func (r *Result) ignores() {
	r.ignored = map[line][]ignore{}
	for _, file := range r.pass.Files {
		for _, group := range file.Comments {
			for _, comment := range group.List {
				rest, ok := strings.CutPrefix(comment.Text, directive+" ")
				if !ok {
					continue
				}
				rule, reason, _ := strings.Cut(strings.TrimSpace(rest), " ")
				position := r.pass.Fset.Position(group.End())
				at := line{position.Filename, position.Line}
				r.ignored[at] = append(r.ignored[at], ignore{rule, strings.TrimSpace(reason)})
			}
		}
	}
}
