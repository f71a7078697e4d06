// Command mutants proves that tests fail if a rule that protects money is removed. Each mutant replaces one text in one file,
// only for the compiler, and runs a test. With the change the test must fail; without the change it must pass.
//
//	go -C tools run ./mutants [-run pattern] [-changed file]
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
	"regexp"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/cardprograms/prepaid/tools/internal/checkout"
)

func main() {
	checkout.Enter()
	os.Exit(run(os.Args[1:], mutants(), os.Stdout, os.Stderr))
}

// mutant is one change of the source and the test that must detect it.
type mutant struct {
	name     string
	file     string // path from the root of the repository
	old, new string // old occurs in the file once
	module   string // directory of the test's module; the root if empty
	pkg      string // path in the module
	test     string
	root     bool // the test needs Linux and root
}

// run returns the exit status: 0 if every mutant fails its test, 1 otherwise, 2 for wrong arguments.
func run(arguments []string, all []mutant, out, problems io.Writer) int {
	flags := flag.NewFlagSet("mutants", flag.ContinueOnError)
	flags.SetOutput(problems)
	pattern := flags.String("run", "", "only mutants whose names match")
	list := flags.String("changed", "", "only mutants of the files that this `file` lists, one per line")
	if flags.Parse(arguments) != nil {
		return 2
	}
	only, err := regexp.Compile(*pattern)
	if err != nil {
		fmt.Fprintln(problems, "mutants: -run is not a regular expression")
		return 2
	}
	changed, err := changedFiles(*list)
	if err != nil {
		fmt.Fprintln(problems, "mutants:", err)
		return 2
	}
	all = slices.DeleteFunc(slices.Clone(all), func(m mutant) bool { return !only.MatchString(m.name) || !changed(m) })
	fmt.Fprintln(out, "mutants:", len(all))
	unchanged := map[string]func() string{} // for each package, the output of its tests without a change
	for _, m := range all {
		unchanged[m.module+" "+m.pkg] = sync.OnceValue(func() string { return testsOf(all, m) })
	}
	code := 0
	var printing sync.Mutex
	var running sync.WaitGroup
	free := make(chan struct{}, runtime.GOMAXPROCS(0))
	for _, m := range all {
		if m.root && (runtime.GOOS != "linux" || os.Geteuid() != 0) {
			printing.Lock()
			fmt.Fprintf(out, "%s: not run, %s needs Linux and root\n", m.name, m.test)
			printing.Unlock()
			continue
		}
		free <- struct{}{}
		running.Go(func() {
			began := time.Now()
			err := m.survives(unchanged[m.module+" "+m.pkg]())
			printing.Lock()
			defer printing.Unlock()
			<-free
			if err != nil {
				fmt.Fprintf(out, "%s: %v\n", m.name, err)
				code = 1
			} else {
				fmt.Fprintf(out, "%s: %s fails, %s\n", m.name, m.test, time.Since(began).Round(time.Second))
			}
		})
	}
	running.Wait()
	return code
}

// changedFiles returns the condition that a file lists the file or the tests of a mutant, or the list of mutants itself. Without a
// file, every mutant meets it.
func changedFiles(file string) (func(mutant) bool, error) {
	if file == "" {
		return func(mutant) bool { return true }, nil
	}
	text, err := os.ReadFile(file)
	paths := strings.Split(string(text), "\n")
	return func(m mutant) bool {
		tests := path.Join(m.module, m.pkg)
		return slices.ContainsFunc(paths, func(p string) bool {
			return p == m.file || p == "tools/mutants/list.go" || path.Dir(p) == tests && strings.HasSuffix(p, "_test.go")
		})
	}, err
}

// testsOf runs, with one go test, all tests of a package that mutants name, and returns the output.
func testsOf(all []mutant, m mutant) string {
	var names []string
	for _, other := range all {
		if other.module == m.module && other.pkg == m.pkg {
			names = append(names, other.test)
		}
	}
	m.test = "(" + strings.Join(names, "|") + ")"
	printed, _ := m.goTest() // each test's line says whether it passes
	return printed
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
	switch {
	case strings.Contains(unchanged, "--- PASS: "+m.test+" "):
	case strings.Contains(unchanged, "=== RUN   "+m.test+"\n"):
		return fmt.Errorf("%s fails without a change: %s", m.test, unchanged)
	default:
		return fmt.Errorf("there is no test %s: %s", m.test, unchanged)
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
	printed, err := m.goTest("-overlay=" + overlay)
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
	content, err := json.Marshal(map[string]any{"Replace": map[string]string{file: changed}})
	if err != nil {
		return "", err
	}
	return overlay, errors.Join(
		os.WriteFile(changed, bytes.Replace(source, []byte(m.old), []byte(m.new), 1), 0o600), os.WriteFile(overlay, content, 0o600))
}

func (m *mutant) goTest(more ...string) (string, error) {
	arguments := append([]string{"test", "-vet=off", "-count=1", "-timeout=5m", "-v", "-run=^" + m.test + "$"}, more...)
	command := exec.CommandContext(context.Background(), "go", append(arguments, m.pkg)...) //nolint:gosec // from the list
	command.Dir = m.module
	printed, err := command.CombinedOutput()
	return string(printed), err
}
