package programs

import (
	"flag"
	"fmt"
	"log"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"
)

// Most tests wait for programs, so more of them run at once than there are cores.
func TestMain(m *testing.M) {
	if err := flag.Set("test.parallel", "8"); err != nil {
		log.Fatal(err)
	}
	goleak.VerifyTestMain(m, goleak.Cleanup(func(code int) {
		_ = os.RemoveAll(binaries())
		os.Exit(code)
	}))
}

var chdir = sync.OnceValue(func() error { return os.Chdir(filepath.Join("..", "..")) })

// atRoot makes a test read the tree from its root.
func atRoot(t *testing.T) {
	t.Helper()
	require.NoError(t, chdir())
}

// binaries is the directory of the built programs.
func binaries() string {
	return filepath.Join(os.TempDir(), fmt.Sprint("prepaid-programs-", os.Getpid()))
}

// build builds the programs in examples/ and that of the README.
var build = sync.OnceValue(func() error {
	directory := binaries()
	if err := os.Mkdir(directory, 0o700); err != nil {
		return err
	}
	for module, packages := range map[string]string{".": "./examples/...", filepath.Join("examples", "apps"): "./...", "tests": "./programs/firstcall"} {
		command := exec.Command("go", "-C", module, "build", "-buildvcs=false", "-ldflags=-s -w", "-o", directory, packages)
		built, err := command.CombinedOutput()
		if err != nil {
			return fmt.Errorf("%s: %w: %s", module, err, built)
		}
	}
	return nil
})
