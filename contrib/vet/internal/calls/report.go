package calls

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const guide = "https://github.com/cardprograms/prepaid/blob/main/contrib/vet/README.md#"

// Rule returns the analyzer of a rule, which has a section in the guide.
func Rule(name, doc string, run func(*Result)) *analysis.Analyzer {
	return &analysis.Analyzer{
		Name: name, Doc: doc, URL: guide + name,
		Requires: []*analysis.Analyzer{Analyzer},
		Run: func(pass *analysis.Pass) (any, error) {
			found := *pass.ResultOf[Analyzer].(*Result)
			found.Pass = pass
			run(&found)
			return nil, nil
		},
	}
}

// Report reports a finding of a rule. Findings in tests are not reported: the money in tests is fictional.
func (r *Result) Report(pos token.Pos, message string) {
	rule := r.Pass.Analyzer
	if strings.HasSuffix(r.Pass.Fset.Position(pos).Filename, "_test.go") || r.ignored(pos, rule.Name) {
		return
	}
	r.Pass.Report(analysis.Diagnostic{Pos: pos, Category: rule.Name, Message: message + ": " + rule.URL, URL: rule.URL})
}

// ignored reports whether a comment "//prepaidvet:ignore RULE REASON" ends on the line of a position or the line above. A
// group of comments may name several rules.
func (r *Result) ignored(pos token.Pos, rule string) bool {
	at := r.Pass.Fset.Position(pos)
	for _, file := range r.Pass.Files {
		for _, group := range file.Comments {
			end := r.Pass.Fset.Position(group.End())
			if end.Filename == at.Filename && (end.Line == at.Line || end.Line == at.Line-1) && ignores(group, rule) {
				return true
			}
		}
	}
	return false
}

func ignores(group *ast.CommentGroup, rule string) bool {
	for _, comment := range group.List {
		reason, found := strings.CutPrefix(comment.Text, "//prepaidvet:ignore "+rule+" ")
		if found && strings.TrimSpace(reason) != "" {
			return true
		}
	}
	return false
}
