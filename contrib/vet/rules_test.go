package prepaidvet_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

// packages are the packages of each rule's testdata.
var packages = map[string][]string{
	"funding":  {"dropped", "asked"},
	"iterator": {"lists"},
	"journal":  {"closed"},
	"outcome":  {"dropped", "compared", "handled", "across", "example.com/unknown"},
	"requestid": {
		"example.com/loops", "example.com/right", "example.com/timed", "example.com/closures", "example.com/ids", "example.com/retry",
		"example.com/wrapper", "example.com/caller", "example.com/stored",
	},
	"retry":   {"again", "example.com/attempt", "again/pay"},
	"webhook": {"messages"},
}

func TestRules(t *testing.T) {
	t.Parallel()
	for _, rule := range prepaidvet.Analyzers() {
		t.Run(rule.Name, func(t *testing.T) {
			t.Parallel()
			require.NotEmpty(t, packages[rule.Name])
			vettest.Run(t, filepath.Join("internal", "rules", rule.Name, "testdata"), rule, packages[rule.Name]...)
		})
	}
}
