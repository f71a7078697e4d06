// Package checkout lets the programs of this module be run with "go -C tools run".
package checkout

import (
	"fmt"
	"os"
	"path/filepath"
)

// Enter leaves the directory tools, so that paths are relative to the root of the repository.
func Enter() {
	directory, err := os.Getwd()
	if err == nil && filepath.Base(directory) == "tools" {
		err = os.Chdir("..")
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
