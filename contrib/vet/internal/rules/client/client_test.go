package client_test

import (
	"testing"

	"github.com/cardprograms/prepaid/contrib/vet/internal/rules/client"
	"github.com/cardprograms/prepaid/contrib/vet/internal/vettest"
)

func TestClient(t *testing.T) {
	t.Parallel()
	vettest.Run(t, client.Analyzer, "made", "made/factory", "made/payments", "made/command", "made/paytest")
}
