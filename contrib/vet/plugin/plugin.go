// Package plugin makes the rules a linter of golangci-lint, named prepaidvet. A golangci-lint built with this package has the
// linter. See https://golangci-lint.run/docs/plugins/module-plugins/ and the README of this module.
package plugin

import (
	"github.com/golangci/plugin-module-register/register"
	"golang.org/x/tools/go/analysis"

	prepaidvet "github.com/cardprograms/prepaid/contrib/vet"
)

// golangci-lint finds plugins in this registry only.
func init() { register.Plugin("prepaidvet", New) } //nolint:gochecknoinits // see above

// New returns the linter. Any settings are an error: exclude reports in the configuration of golangci-lint.
func New(settings any) (register.LinterPlugin, error) {
	if _, err := register.DecodeSettings[struct{}](settings); err != nil {
		return nil, err
	}
	return linter{}, nil
}

type linter struct{}

func (linter) BuildAnalyzers() ([]*analysis.Analyzer, error) { return prepaidvet.Analyzers(), nil }

func (linter) GetLoadMode() string { return register.LoadModeTypesInfo }
