// Package checkout lets the programs of this module be run with "go -C tools run".
package checkout

import (
	"fmt"
	"os"
)

// Enter makes the root of the repository the working directory, so that paths are relative to it.
func Enter() {
	if _, err := os.Stat("operations.txt"); err == nil {
		return
	}
	if err := os.Chdir(".."); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}
