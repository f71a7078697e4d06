package programs

import (
	"flag"
	"log"
	"os"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/cardprograms/prepaid/tests/built"
)

// Most tests wait for programs, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	root := filepath.Join("..", "..")
	built.Main(m, map[string]string{root: "./examples/...", filepath.Join(root, "examples", "apps"): "./...", ".": "./firstcall"})
}

var chdir = sync.OnceValue(func() error { return os.Chdir(filepath.Join("..", "..")) })

// atRoot makes a test read the tree from its root.
func atRoot(t *testing.T) {
	t.Helper()
	require.NoError(t, chdir())
}
