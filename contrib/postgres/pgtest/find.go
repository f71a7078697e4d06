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

// find returns the directory of initdb and postgres.
func find(dir string) (string, error) {
	if dir != "" {
		if !complete(dir) {
			return "", fmt.Errorf("%w where Options.Binaries says", ErrNotInstalled)
		}
		return dir, nil
	}
	if program, err := exec.LookPath("initdb"); err == nil {
		// What is in PATH may be a link; initdb looks for postgres next to itself.
		if program, err = filepath.EvalSymlinks(program); err == nil && complete(filepath.Dir(program)) {
			return filepath.Dir(program), nil
		}
	}
	var found []string
	for _, place := range places {
		dirs, _ := filepath.Glob(place) // the patterns are valid
		found = append(found, slices.DeleteFunc(dirs, func(dir string) bool { return !complete(dir) })...)
	}
	if len(found) == 0 {
		return "", fmt.Errorf("%w: initdb is neither in PATH nor where packages put it", ErrNotInstalled)
	}
	return slices.MaxFunc(found, func(a, b string) int { return version(a) - version(b) }), nil
}

func complete(dir string) bool {
	for _, program := range [...]string{"initdb", "postgres"} {
		if info, err := os.Stat(filepath.Join(dir, program)); err != nil || info.IsDir() {
			return false
		}
	}
	return true
}

var digits = regexp.MustCompile(`[0-9]+`)

// version returns the first number in a path of places.
func version(dir string) int {
	number, _ := strconv.Atoi(digits.FindString(dir)) // zero for what is not a version
	return number
}
