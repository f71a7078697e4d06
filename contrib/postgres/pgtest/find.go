package pgtest

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
)

// places are where the packages of Debian, its relatives and Homebrew put the programs of one version.
var places = [...]string{
	"/usr/lib/postgresql/*/bin", "/usr/pgsql-*/bin", "/usr/local/opt/postgresql@*/bin", "/opt/homebrew/opt/postgresql@*/bin",
}

var digits = regexp.MustCompile(`[0-9]+`)

// find returns the directory of initdb and postgres: dir, or if that is empty the one in PATH or of the newest version.
func find(dir string) (string, error) {
	found := []string{dir}
	if dir == "" {
		found = nil
		for _, place := range places {
			dirs, _ := filepath.Glob(place) // the patterns are valid
			found = append(found, dirs...)
		}
		version := func(dir string) int {
			number, _ := strconv.Atoi(digits.FindString(dir)) // zero for what is not a version
			return number
		}
		slices.SortFunc(found, func(a, b string) int { return version(b) - version(a) })
		// What is in PATH may be a link; initdb looks for postgres next to itself.
		if program, err := exec.LookPath("initdb"); err == nil {
			program, _ = filepath.EvalSymlinks(program) // it exists
			found = slices.Insert(found, 0, filepath.Dir(program))
		}
	}
	for _, dir := range found {
		_, initdb := os.Stat(filepath.Join(dir, "initdb"))
		if info, err := os.Stat(filepath.Join(dir, "postgres")); initdb == nil && err == nil && !info.IsDir() {
			return dir, nil
		}
	}
	return "", fmt.Errorf("%w: initdb and postgres are neither where Options.Binaries says nor in PATH nor where packages put them", ErrNotInstalled)
}
