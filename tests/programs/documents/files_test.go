package docs

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// Each service, and each part of the core that partners look for, has the file that its name promises.
func TestFilesByName(t *testing.T) {
	t.Parallel()
	atRoot(t)
	for _, name := range []string{
		"client.go", "auth.go", "accounts.go", "policy.go", "reporting.go", "funding.go", "simulation.go", "pin.go", "hooks.go", "paging.go",
		"errors.go", "go.mod", "README.md",
	} {
		require.FileExists(t, name)
	}
}
