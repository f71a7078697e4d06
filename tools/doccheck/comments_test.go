package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestCommentFaults(t *testing.T) {
	t.Parallel()
	const head = "// Package p is here.\npackage p\n\n"
	for name, c := range map[string]struct {
		source string
		faults []string
	}{
		"all is well": {source: head + "// F does.\nfunc F() {}\n\nfunc g() {}\n"},
		"package": {
			source: "package p\n",
			faults: []string{"x.go:1:1: package p has no doc comment"},
		},
		"function": {
			source: head + "func F() {}\n",
			faults: []string{"x.go:4:6: function F has no doc comment"},
		},
		"type, field, method": {
			source: head + "type T struct{ A int }\n\nfunc (t *T) M() {}\n",
			faults: []string{
				"x.go:4:6: type T has no doc comment",
				"x.go:4:16: field T.A has no doc comment",
				"x.go:6:13: method T.M has no doc comment",
			},
		},
		"a group's comment is not that of its constants": {
			source: head + "// Both.\nconst (\n\t// A is.\n\tA = 1\n\tB = 2\n)\n",
			faults: []string{"x.go:8:2: constant B has no doc comment"},
		},
		"a comment at the end of the line is not one above": {
			source: head + "var (\n\tV = 1 // V is.\n)\n",
			faults: []string{"x.go:5:2: variable V has no doc comment"},
		},
		"a comment about another name": {
			source: head + "// Ftwo does.\nfunc F() {}\n\n// The G: an article is no other name.\nfunc G() {}\n",
			faults: []string{"x.go:5:6: function F has a doc comment that does not start with its name"},
		},
		"service methods": {
			source: head + `
// CardsService is one.
type CardsService struct{}

// Good is good. Safety: read.
//
// API: GET /cards.
func (s *CardsService) Good(ctx context.Context) {}

// Second is good. Errors and safety: as
// Good.
//
// API: DELETE /cards/{id}.
func (s *CardsService) Second(ctx context.Context) {}

// Silent says neither. API: none.
func (s *CardsService) Silent(ctx context.Context) {}

func (s *CardsService) helper(ctx context.Context) {}

// Computed sends nothing.
func (s *CardsService) Computed(lastSent time.Time) {}
`,
			faults: []string{
				`x.go:20:24: method CardsService.Silent has no "API: METHOD /path" in its doc comment`,
				`x.go:20:24: method CardsService.Silent has neither "Safety:" nor "safety: as" in its doc comment`,
			},
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.faults, commentFaults(symbolsOf(t, c.source, false)))
		})
	}
}
