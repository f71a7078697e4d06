package docs

import (
	"log"
	"os"
	"path/filepath"
	"testing"
)

// TestMain has the tests read the tree from its root.
func TestMain(m *testing.M) {
	if err := os.Chdir(filepath.Join("..", "..", "..")); err != nil {
		log.Fatal(err)
	}
	m.Run()
}
