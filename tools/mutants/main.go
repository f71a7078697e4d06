// Command mutants proves that tests fail if a rule that protects money is removed. Each mutant replaces one text in one file,
// only for the compiler, and runs a test. With the change the test must fail; without the change it must pass.
//
//	go -C tools run ./mutants [-changed file]
//
// With -changed, it runs only the mutants of files, and of packages of tests, that the given file lists. It prints a line per
// mutant. The exit status is 1 if a mutant survives, or if its text is missing from the source: in that case, update the list.
package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

// mutant is one change of the source and the test that must detect it.
type mutant struct {
	name     string
	file     string // path from the root of the repository
	old, new string // old occurs in the file once
	pkg      string // directory of the test
	test     string
	root     bool // the test needs Linux and root
}

func main() {
	checkout.Enter()
	list := flag.String("changed", "", "only mutants of the files that this `file` lists, one per line")
	flag.Parse()
	all := mutants()
	if *list != "" {
		text, err := os.ReadFile(*list)
		if err != nil {
			fmt.Fprintln(os.Stderr, "mutants:", err)
			os.Exit(2)
		}
		all = concerned(all, strings.Split(string(text), "\n"))
	}
	if !run(all, os.Stdout) {
		os.Exit(1)
	}
}

// concerned returns the mutants whose file or tests have changed; all mutants if their list has changed.
func concerned(all []mutant, changed []string) []mutant {
	return slices.DeleteFunc(slices.Clone(all), func(m mutant) bool {
		return !slices.ContainsFunc(changed, func(file string) bool {
			return file == m.file || file == "tools/mutants/list.go" || path.Dir(file) == path.Clean(m.pkg) && strings.HasSuffix(file, "_test.go")
		})
	})
}

// run reports whether every mutant fails its test.
func run(all []mutant, out io.Writer) bool {
	fmt.Fprintln(out, "mutants:", len(all))
	tests := make(map[string][]string) // by package
	for _, m := range all {
		tests[m.pkg] = append(tests[m.pkg], m.test)
	}
	unchanged := make(map[string]func() string) // for each package, the output of its tests without a change
	for pkg, names := range tests {
		unchanged[pkg] = sync.OnceValue(func() string {
			printed, _ := goTest(pkg, "("+strings.Join(names, "|")+")") // each test's line says whether it passes
			return printed
		})
	}
	ok := true
	var printing sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, m := range all {
		free <- struct{}{}
		running.Go(func() {
			result := m.test + " not run, it needs Linux and root"
			var err error
			if !m.root || runtime.GOOS == "linux" && os.Geteuid() == 0 {
				result, err = m.test+" fails", m.survives(unchanged[m.pkg]())
			}
			printing.Lock()
			defer printing.Unlock()
			<-free
			if err != nil {
				ok, result = false, err.Error()
			}
			fmt.Fprintf(out, "%s: %s\n", m.name, result)
		})
	}
	running.Wait()
	return ok
}

// survives returns why the mutant proves nothing; nil if the test fails with the change and passes without the change.
func (m *mutant) survives(unchanged string) error {
	source, err := os.ReadFile(m.file)
	if err != nil {
		return err
	}
	if n := bytes.Count(source, []byte(m.old)); n != 1 {
		return fmt.Errorf("its text is in %s %d times, not once", m.file, n)
	}
	if !strings.Contains(unchanged, "--- PASS: "+m.test+" ") {
		return fmt.Errorf("%s does not pass without a change: %s", m.test, unchanged)
	}
	directory, err := os.MkdirTemp("", "mutant")
	if err != nil {
		return err
	}
	defer os.RemoveAll(directory) //nolint:errcheck // only litter
	overlay, err := m.overlay(directory, source)
	if err != nil {
		return err
	}
	printed, err := goTest(m.pkg, m.test, "-overlay="+overlay)
	switch {
	case err == nil:
		return fmt.Errorf("SURVIVES: %s passes", m.test)
	case !strings.Contains(printed, "--- FAIL: "+m.test):
		return fmt.Errorf("%s did not finish: %w: %s", m.test, err, printed)
	}
	return nil
}

// overlay writes an overlay file. With this file, the go command uses the changed file instead of the original.
func (m *mutant) overlay(directory string, source []byte) (string, error) {
	file, err := filepath.Abs(m.file)
	if err != nil {
		return "", err
	}
	changed, overlay := filepath.Join(directory, "changed.go"), filepath.Join(directory, "overlay.json")
	content, err := json.Marshal(map[string]map[string]string{"Replace": {file: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(changed, bytes.Replace(source, []byte(m.old), []byte(m.new), 1), 0o600), os.WriteFile(overlay, content, 0o600))
}

func goTest(directory, tests string, more ...string) (string, error) {
	arguments := append([]string{"test", "-vet=off", "-count=1", "-timeout=5m", "-v", "-run=^" + tests + "$"}, more...)
	command := exec.CommandContext(context.Background(), "go", arguments...) //nolint:gosec // from the list
	command.Dir = directory
	printed, err := command.CombinedOutput()
	return string(printed), err
}
