package plugin_test

import (
	"testing"

	"github.com/golangci/plugin-module-register/register"
	"github.com/stretchr/testify/require"
	"golang.org/x/tools/go/analysis"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
	_ "github.com/cardprograms/prepaid/contrib/vet/plugin" // registers itself
)

// golangci-lint makes the linter by its name, and runs its analyzers with types.
func TestPlugin(t *testing.T) {
	t.Parallel()
	newPlugin, err := register.GetPlugin("prepaidvet")
	require.NoError(t, err)
	linter, err := newPlugin(nil)
	require.NoError(t, err)
	require.Equal(t, register.LoadModeTypesInfo, linter.GetLoadMode())
	analyzers, err := linter.BuildAnalyzers()
	require.NoError(t, err)
	require.Equal(t, prepaidvet.Analyzers(), analyzers)
	require.NoError(t, analysis.Validate(analyzers))

	_, err = newPlugin(map[string]any{"rules": []string{"outcome"}})
	require.ErrorContains(t, err, `unknown field "rules"`)
}
