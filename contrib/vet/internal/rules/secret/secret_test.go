package secret_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/secret"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestSecret(t *testing.T) {
	t.Parallel()
	vettest.Run(t, secret.Analyzer, "printed", "printed/vault")
}
