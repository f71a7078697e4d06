package docs

import (
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
)

var chdir = sync.OnceValue(func() error { return os.Chdir(filepath.Join("..", "..", "..")) })

// atRoot makes a test read the tree from its root. TestMain is too early: go test would not see which files are read, and
// would report a cached result after a document has changed.
func atRoot(t *testing.T) {
	t.Helper()
	require.NoError(t, chdir())
}
